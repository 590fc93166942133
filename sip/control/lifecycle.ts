import { formatMessage } from '../message/message.ts';
import type { Owner } from './apps.ts';
import type { CdrEvent, Hub } from './hub.ts';
import { giveUp } from './incoming.ts';
import { endLeg, removeLeg } from './leg.ts';
import { timeOfDay } from './lines.ts';
import { cancelSent } from './send.ts';

/** An application's connection broke: whoever waits for it is told, and its calls wait for it to come back. */
export function onAppLost(hub: Hub, owner: Owner): void {
  for (const pending of hub.pending.ofOwner(owner)) giveUp(hub, pending, 503);
  for (const sent of hub.sent.all()) {
    const isOpen = sent.template.method === 'INVITE' && !sent.transaction.hasFinal;
    if (sent.owner === owner && isOpen) cancelSent(hub, sent, []);
  }
}

/** It did not come back: its calls end, and their other ends hear why. */
export function onAppGone(hub: Hub, owner: Owner): void {
  for (const leg of hub.legs.ofOwner(owner)) {
    if (leg.confirmed && leg.kind === 'INVITE') endLeg(hub, leg, 503, 'application gone');
    else removeLeg(hub, leg);
  }
}

/** Tells one of the applications that asked for call records. */
export function announceCdr(hub: Hub, { verb, source, detail, message }: CdrEvent): void {
  const owner = hub.apps.choose(verb);
  if (!owner) return;
  const field = detail === undefined ? '' : `|${detail}`;
  const time = timeOfDay(hub.clock.now());
  owner.send(`${hub.ids.uuid()}|${verb}|${source}|${time}${field}\r\n${formatMessage(message)}`);
}

/** Stops all timers; nobody is said goodbye to. */
export function closeHub(hub: Hub): void {
  hub.apps.close();
  for (const leg of [...hub.legs.all()]) removeLeg(hub, leg);
  for (const pending of hub.pending.all()) {
    pending.limit.cancel();
    pending.reminder?.cancel();
    pending.reliable.current?.repeating.stop();
    hub.pending.remove(pending);
  }
  for (const sent of hub.sent.all()) {
    sent.failover?.cancel();
    hub.sent.remove(sent);
  }
  hub.transactions.close();
}
