import { formatMessage } from '../message/message.ts';
import type { CdrEvent, Core } from './core.ts';
import { removeDialog, terminateDialog } from './dialogs/dialog.ts';
import type { Application } from './protocol/applications.ts';
import { timeOfDay } from './protocol/messages.ts';
import { cancelInvite } from './uac/send.ts';
import { answerForApplication } from './uas/receive.ts';

/** An application's connection broke: whoever waits for it is told, and its calls wait for it to come back. */
export function onApplicationDisconnected(core: Core, application: Application): void {
  for (const incoming of core.incomingRequests.ofApplication(application))
    answerForApplication(core, incoming, 503);
  for (const outgoing of core.outgoingRequests.all()) {
    const isOpen = outgoing.template.method === 'INVITE' && !outgoing.transaction.hasFinal;
    if (outgoing.application === application && isOpen) cancelInvite(core, outgoing, []);
  }
}

/** It did not come back: its calls end, and their other ends hear why. */
export function onApplicationExpired(core: Core, application: Application): void {
  for (const dialog of core.dialogs.ofApplication(application)) {
    if (dialog.confirmed && dialog.kind === 'INVITE') terminateDialog(core, dialog, 503, 'application gone');
    else removeDialog(core, dialog);
  }
}

/** Tells one of the applications that asked for call records. */
export function announceCdr(core: Core, { verb, source, detail, message }: CdrEvent): void {
  const application = core.applications.selectForRoute(verb);
  if (!application) return;
  const field = detail === undefined ? '' : `|${detail}`;
  const time = timeOfDay(core.clock.now());
  application.send(`${core.ids.uuid()}|${verb}|${source}|${time}${field}\r\n${formatMessage(message)}`);
}

/**
 * Ends all calls, and tells both their ends: who waits gets 503, who rings a CANCEL, who talks a BYE.
 *
 * @returns When the peers have heard it, or have had time for three tries.
 */
export async function terminateCalls(core: Core): Promise<void> {
  for (const incoming of core.incomingRequests.all()) answerForApplication(core, incoming, 503);
  for (const outgoing of core.outgoingRequests.all()) {
    if (outgoing.template.method === 'INVITE' && !outgoing.transaction.hasFinal)
      cancelInvite(core, outgoing, []);
  }
  for (const dialog of [...core.dialogs.all()]) {
    if (dialog.confirmed && dialog.kind === 'INVITE')
      terminateDialog(core, dialog, 503, 'the SIP server ends');
  }
  // The BYE of a call whose peer has a host name leaves when that has been looked up.
  const untilMs = core.clock.monotonicMs() + FAREWELL_TIMES_T1 * core.sipTimes.t1Ms;
  while (core.transactions.openCalls > 0 && core.clock.monotonicMs() < untilMs) {
    await new Promise<void>((resolve) => core.clock.setTimer(resolve, FAREWELL_LOOK_MS));
  }
}

/** Sent at once, after T1, and after twice T1 more. */
const FAREWELL_TIMES_T1 = 3.5;
const FAREWELL_LOOK_MS = 10;

/** Stops all timers; nobody is said goodbye to. */
export function closeCore(core: Core): void {
  core.applications.close();
  for (const dialog of [...core.dialogs.all()]) removeDialog(core, dialog);
  for (const incoming of core.incomingRequests.all()) {
    incoming.answerTimeout.cancel();
    incoming.provisionalRefresh?.cancel();
    incoming.reliable.current?.repeating.stop();
    core.incomingRequests.remove(incoming);
  }
  for (const outgoing of core.outgoingRequests.all()) {
    outgoing.failover?.cancel();
    core.outgoingRequests.remove(outgoing);
  }
  core.transactions.close();
}
