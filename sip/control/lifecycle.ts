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

/**
 * Ends all calls, and tells both their ends: who waits gets 503, who rings a CANCEL, who talks a BYE.
 *
 * @returns When the peers have heard it, or have had time for three tries.
 */
export async function sayGoodbye(hub: Hub): Promise<void> {
  for (const pending of hub.pending.all()) giveUp(hub, pending, 503);
  for (const sent of hub.sent.all()) {
    if (sent.template.method === 'INVITE' && !sent.transaction.hasFinal) cancelSent(hub, sent, []);
  }
  for (const leg of [...hub.legs.all()]) {
    if (leg.confirmed && leg.kind === 'INVITE') endLeg(hub, leg, 503, 'the SIP server ends');
  }
  // The BYE of a call whose peer has a host name leaves when that has been looked up.
  const untilMs = hub.clock.monotonicMs() + FAREWELL_TIMES_T1 * hub.sipTimes.t1Ms;
  while (hub.transactions.openCalls > 0 && hub.clock.monotonicMs() < untilMs) {
    await new Promise<void>((resolve) => hub.clock.setTimer(resolve, FAREWELL_LOOK_MS));
  }
}

/** Sent at once, after T1, and after twice T1 more. */
const FAREWELL_TIMES_T1 = 3.5;
const FAREWELL_LOOK_MS = 10;

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
