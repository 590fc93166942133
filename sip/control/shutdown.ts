import { formatMessage } from '../message/message.ts';
import type { CdrEvent, Core } from './core.ts';
import { removeDialog, terminateDialog } from './dialogs/dialog.ts';
import type { Application } from './protocol/applications.ts';
import { timeOfDay } from './protocol/messages.ts';
import { cancelInvite } from './uac/send.ts';
import { answerForApplication } from './uas/receive.ts';

/** Rejects and cancels pending requests of an application; its calls stay for the grace period. */
export function onApplicationDisconnected(core: Core, application: Application): void {
  for (const incoming of core.incomingRequests.ofApplication(application))
    answerForApplication(core, incoming, 503);
  for (const outgoing of core.outgoingRequests.all()) {
    const isOpen = outgoing.template.method === 'INVITE' && !outgoing.transaction.hasFinal;
    if (outgoing.application === application && isOpen) cancelInvite(core, outgoing, []);
  }
}

/** Terminates the calls of an application that did not reconnect. */
export function onApplicationExpired(core: Core, application: Application): void {
  for (const dialog of core.dialogs.ofApplication(application)) {
    if (dialog.confirmed && dialog.kind === 'INVITE') terminateDialog(core, dialog, 503, 'application gone');
    else removeDialog(core, dialog);
  }
}

/** Sends a CDR event to an application with a route for it. */
export function announceCdr(core: Core, { verb, source, detail, message }: CdrEvent): void {
  const application = core.applications.selectForRoute(verb);
  if (!application) return;
  const field = detail === undefined ? '' : `|${detail}`;
  const time = timeOfDay(core.clock.now());
  application.send(`${core.ids.uuid()}|${verb}|${source}|${time}${field}\r\n${formatMessage(message)}`);
}

/**
 * Terminates all calls: pending INVITEs get 503, outgoing ones a CANCEL, established calls a BYE.
 *
 * @returns A promise that resolves when the peers have responded, or after three transmissions.
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
  // A BYE to a host name is sent after the DNS lookup.
  const untilMs = core.clock.monotonicMs() + FAREWELL_TIMES_T1 * core.sipTimes.t1Ms;
  while (core.transactions.openCalls > 0 && core.clock.monotonicMs() < untilMs) {
    await new Promise<void>((resolve) => core.clock.setTimer(resolve, FAREWELL_LOOK_MS));
  }
}

/** Time for transmissions at 0, T1 and 3·T1. */
const FAREWELL_TIMES_T1 = 3.5;
const FAREWELL_LOOK_MS = 10;

/** Stops all timers and forgets all calls, without a message to any peer. */
export function closeCore(core: Core): void {
  core.applications.close();
  for (const dialog of [...core.dialogs.all()]) removeDialog(core, dialog);
  for (const incoming of core.incomingRequests.all()) {
    incoming.answerTimeout.cancel();
    incoming.provisionalRefresh?.cancel();
    incoming.reliable.current?.retransmission.stop();
    core.incomingRequests.remove(incoming);
  }
  for (const outgoing of core.outgoingRequests.all()) {
    outgoing.failover?.cancel();
    core.outgoingRequests.remove(outgoing);
  }
  core.transactions.close();
}
