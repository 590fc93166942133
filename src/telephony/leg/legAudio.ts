import type { MediaParameters, MediaSession } from '../../media/mediaSession.ts';
import type { Agreement } from '../sdp/negotiate.ts';
import { isZero } from '../sdp/read.ts';
import type { SdpSession } from '../sdp/session.ts';

/** The audio of a leg, from the reserved port to its close. */
export class LegAudio {
  readonly #emitHeld: (isHeld: boolean) => void;
  readonly #onError: (error: unknown, what: string) => void;
  #media: MediaSession | undefined;
  #sdp: SdpSession | undefined;
  #signallingHost: string | undefined;
  #parameters: MediaParameters | undefined;
  #isHeld = false;
  #isClosed = false;

  constructor(emitHeld: (isHeld: boolean) => void, onError: (error: unknown, what: string) => void) {
    this.#emitHeld = emitHeld;
    this.#onError = onError;
  }

  get media(): MediaSession | undefined {
    return this.#media;
  }

  get sdp(): SdpSession | undefined {
    return this.#sdp;
  }

  /** The parameters agreed last. */
  get parameters(): MediaParameters | undefined {
    return this.#parameters;
  }

  /**
   * Sets the leg's media session. After `close`, the session is closed at once.
   *
   * @param signallingHost - The peer's IP address. Default: unknown.
   */
  set(session: MediaSession, sdp: SdpSession, signallingHost?: string): void {
    if (this.#isClosed) {
      this.#closeSession(session);
      return;
    }
    this.#media = session;
    this.#sdp = sdp;
    this.#signallingHost = signallingHost;
  }

  /** Connects or reconnects the audio, and reports hold and resume. */
  async apply(agreement: Agreement): Promise<void> {
    if (!this.#media) throw new Error('the leg has no audio yet');
    const next = withKnownAddress(agreement.parameters, this.#parameters);
    const signallingHost = this.#signallingHost;
    const from = signallingHost === undefined ? {} : { signallingHost };
    await this.#media.connect({ ...next, remote: { ...next.remote, ...from } });
    this.#parameters = next;
    if (agreement.isHeld === this.#isHeld) return;
    this.#isHeld = agreement.isHeld;
    this.#emitHeld(this.#isHeld);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#media) this.#closeSession(this.#media);
  }

  #closeSession(session: MediaSession): void {
    session.close().catch((error: unknown) => this.#onError(error, 'closing the audio of a call failed'));
  }
}

/** A hold by the zero address keeps the last address, which applies again after the hold. @see RFC 3264 section 8.4 */
function withKnownAddress(next: MediaParameters, last: MediaParameters | undefined): MediaParameters {
  return isZero(next.remote.address) && last ? { ...next, remote: last.remote } : next;
}
