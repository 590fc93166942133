import type { Clock, Timer } from '../../../base/clock.ts';
import type { SipResponse } from '../../control/outgoing.ts';
import type { SipText } from '../../sip/message.ts';
import type { Dialog } from '../dialog.ts';

/**
 * Refreshes a session where that falls to us and the peer may ask for credentials, which the SIP server does not have: a
 * little before the server would refresh it itself, which then has nothing to do.
 *
 * A refresh that is refused is left to the server's own, which knows what follows. @see RFC 4028 sections 7.2 and 10
 */
export interface SessionRefresh {
  /** What our 2xx or the peer's says to the session. @param weAre - In the transaction that it ends. */
  agreed(answer: SipText, weAre: Refresher): void;
  /** The peer has offered something itself, and with it may have taken the refreshing over. Idempotent. */
  stop(): void;
}

export type Refresher = 'uac' | 'uas';

export interface SessionRefreshDeps {
  readonly dialog: Pick<Dialog, 'request'>;
  readonly clock: Clock;
  /** UPDATE costs the peer no thought about its audio. */
  readonly takesUpdate: () => boolean;
  /** The session as it is; '' while nothing was said of it. */
  readonly description: () => string;
  /** What the peer answered to it. */
  readonly onAnswer: (description: string) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** The SIP server refreshes at half of the interval. */
const SHARE_OF_INTERVAL = 0.4;

export function createSessionRefresh(deps: SessionRefreshDeps): SessionRefresh {
  const { dialog, clock, onError } = deps;
  let timer: Timer | undefined;

  const stop = () => timer?.cancel();
  const agreed = (answer: SipText, weAre: Refresher) => {
    stop();
    const said = answer.header('session-expires') ?? '';
    const seconds = Number.parseInt(said, 10);
    const refresher = /;\s*refresher\s*=\s*(uac|uas)\b/i.exec(said)?.[1]?.toLowerCase() ?? 'uac';
    if (!(seconds > 0) || refresher !== weAre) return;
    timer = clock.setTimer(() => refresh(seconds), seconds * 1000 * SHARE_OF_INTERVAL);
  };
  const refresh = (seconds: number): void => {
    ask(seconds).then(
      (response) => {
        if (response.status >= 300) return;
        if (response.text.body !== '') deps.onAnswer(response.text.body);
        agreed(response.text, 'uac');
      },
      (error: unknown) => onError(error, 'a session was not refreshed; the SIP server does it'),
    );
  };
  const ask = (seconds: number): Promise<SipResponse> => {
    const headers = { 'Session-Expires': `${seconds};refresher=uac`, Supported: 'timer' };
    const body = deps.description();
    if (deps.takesUpdate() || body === '') return dialog.request('UPDATE', { headers });
    return dialog.request('INVITE', { headers: { ...headers, 'Content-Type': 'application/sdp' }, body });
  };
  return { agreed, stop };
}
