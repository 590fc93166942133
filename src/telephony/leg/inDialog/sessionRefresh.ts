import type { SipMessage } from '../../../../sip/message/message.ts';
import type { Clock, Timer } from '../../../base/values/clock.ts';
import type { ReceivedResponse } from '../../control/connection.ts';
import type { Dialog } from '../dialog.ts';

/**
 * Refreshes a session where this side is the refresher and the peer may challenge the refresh: the SIP server has no
 * credentials. It refreshes shortly before the server would, which then has nothing to do.
 *
 * A rejected refresh is left to the server's own. @see RFC 4028 sections 7.2 and 10
 */
export interface SessionRefresh {
  /** Applies the Session-Expires of a 2xx. @param role - Ours in its transaction. */
  onAgreed(response: SipMessage, role: Refresher): void;
  /** The peer has sent an offer, and may have become the refresher. Idempotent. */
  stop(): void;
}

export type Refresher = 'uac' | 'uas';

export interface SessionRefreshDeps {
  readonly dialog: Dialog;
  readonly clock: Clock;
  /** UPDATE refreshes without renegotiating the audio. */
  readonly takesUpdate: () => boolean;
  /** Our current session description; '' when there is none. */
  readonly description: () => string;
  /** Receives the peer's answer to our description. */
  readonly onAnswer: (description: string) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** The SIP server refreshes at half of the interval. */
const SHARE_OF_INTERVAL = 0.4;

export function createSessionRefresh(deps: SessionRefreshDeps): SessionRefresh {
  const { dialog, clock, onError } = deps;
  let timer: Timer | undefined;

  const stop = () => timer?.cancel();
  const onAgreed = ({ headers }: SipMessage, role: Refresher) => {
    stop();
    const value = headers.get('session-expires') ?? '';
    const seconds = Number.parseInt(value, 10);
    const refresher = /;\s*refresher\s*=\s*(uac|uas)\b/i.exec(value)?.[1]?.toLowerCase() ?? 'uac';
    if (!(seconds > 0) || refresher !== role) return;
    timer = clock.setTimer(() => refresh(seconds), seconds * 1000 * SHARE_OF_INTERVAL);
  };
  const refresh = (seconds: number): void => {
    send(seconds).then(
      ({ message }) => {
        if (message.status >= 300) return;
        if (message.body !== '') deps.onAnswer(message.body);
        onAgreed(message, 'uac');
      },
      (error: unknown) => onError(error, 'session refresh failed; left to the SIP server'),
    );
  };
  const send = (seconds: number): Promise<ReceivedResponse> => {
    const headers = { 'Session-Expires': `${seconds};refresher=uac`, Supported: 'timer' };
    const body = deps.description();
    if (deps.takesUpdate() || body === '') return dialog.request('UPDATE', { headers });
    return dialog.request('INVITE', { headers: { ...headers, 'Content-Type': 'application/sdp' }, body });
  };
  return { onAgreed, stop };
}
