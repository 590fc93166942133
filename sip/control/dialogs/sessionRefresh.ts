import { createDialogRequest, refreshTarget } from '../../dialog/dialogState.ts';
import {
  addToken,
  negotiatedByUac,
  type SessionTimer,
  sessionDelays,
  withMinSe,
} from '../../dialog/sessionTimer.ts';
import type { SipRequest, SipResponse } from '../../message/message.ts';
import type { Core, Dialog } from '../core.ts';
import { sendAck, terminateDialog } from './dialog.ts';
import { sendServerRequest } from './routing.ts';

/** Starts or restarts the session timer; stops it when `timer` is undefined. @see RFC 4028 */
export function startSessionTimer(core: Core, dialog: Dialog, timer: SessionTimer | undefined): void {
  dialog.sessionTimer?.timer.cancel();
  dialog.sessionTimer = undefined;
  if (!timer) return;
  const { refreshMs, expireMs } = sessionDelays(timer);
  const fire = timer.weRefresh
    ? () => refreshSession(core, dialog, timer)
    : () => terminateDialog(core, dialog, 408, 'Session timer expired');
  dialog.sessionTimer = {
    ...timer,
    timer: core.clock.setTimer(fire, timer.weRefresh ? refreshMs : expireMs),
  };
}

/** Refreshes by UPDATE if the peer supports it, else by a re-INVITE with the last offer. */
function refreshSession(core: Core, dialog: Dialog, timer: SessionTimer): void {
  if (dialog.outgoingInvite || dialog.incomingInvite) {
    retrySession(core, dialog, timer);
    return;
  }
  const { intervalSeconds, minimumSeconds } = timer;
  const method = dialog.peerAllowsUpdate || !dialog.localBody ? 'UPDATE' : 'INVITE';
  const request = createDialogRequest(dialog.state, method);
  request.headers.add('contact', dialog.state.localTarget);
  request.headers.add('session-expires', `${intervalSeconds};refresher=uac`);
  if (minimumSeconds !== undefined) request.headers.add('min-se', String(minimumSeconds));
  addToken(request.headers, 'supported', 'timer');
  if (method === 'INVITE' && dialog.localBody) {
    request.headers.add('content-type', dialog.localBody.type);
    request.body = dialog.localBody.body;
  }
  core.counters.count('sessions.refreshed');
  const gone = () => terminateDialog(core, dialog, 408, 'Session timer expired');
  dialog.sessionTimer = { ...timer, timer: core.clock.setTimer(gone, (intervalSeconds * 1000) / 2) };
  sendServerRequest(core, dialog, request, {
    onResponse: (response) => onRefreshed(core, dialog, request, response, timer),
    onTimeout: gone,
    onTransportError: gone,
  });
}

function onRefreshed(
  core: Core,
  dialog: Dialog,
  request: SipRequest,
  response: SipResponse,
  timer: SessionTimer,
): void {
  if (response.status < 200 || !core.dialogs.has(dialog)) return;
  const longer = response.status === 422 ? withMinSe(timer, response.headers) : undefined;
  if (response.status === 408 || response.status === 481)
    terminateDialog(core, dialog, 408, 'Session timer expired');
  else if (longer) refreshAgain(core, dialog, longer);
  else if (response.status >= 300) retrySession(core, dialog, timer);
  else {
    refreshTarget(dialog.state, response);
    if (request.method === 'INVITE')
      sendAck(core, dialog, Number(request.headers.get('cseq')?.split(' ')[0]));
    startSessionTimer(core, dialog, negotiatedByUac(request, response.headers));
  }
}

/** Retries with the interval of a 422. @see RFC 4028 section 7.4 */
function refreshAgain(core: Core, dialog: Dialog, timer: SessionTimer): void {
  dialog.sessionTimer?.timer.cancel();
  refreshSession(core, dialog, timer);
}

/** Retries a refresh that was rejected or cannot be sent now. */
function retrySession(core: Core, dialog: Dialog, timer: SessionTimer): void {
  dialog.sessionTimer?.timer.cancel();
  const again = () => refreshSession(core, dialog, timer);
  dialog.sessionTimer = { ...timer, timer: core.clock.setTimer(again, (timer.intervalSeconds * 1000) / 8) };
}
