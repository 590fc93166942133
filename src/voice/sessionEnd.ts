import { createWatchdog, type Watchdog } from '../base/async/watchdog.ts';
import type { Clock, Timer } from '../base/values/clock.ts';
import type { AudioStream } from '../conversation/streams/audioStream.ts';
import type { SessionOutcome } from '../conversation/turns/sessionOutcome.ts';
import type { HangupReason } from '../media/agentStream/streamClient.ts';

/** The peer closes the stream this soon after it was told to hang up. */
const HANGUP_TIMEOUT_MS = 5000;
/** Audio arrives without gaps, silence included: a stream without audio for this long is lost. */
const STREAM_TIMEOUT_MS = 30_000;

/** What the call is told. */
const HANGUP_REASONS: Partial<Readonly<Record<SessionOutcome, HangupReason>>> = {
  failed: 'error',
  not_understood: 'not_understood',
};

export interface SessionEndDeps {
  readonly stream: AudioStream;
  /** Called once, when the stream was closed. */
  readonly onClosed: () => void;
  readonly clock: Clock;
}

/** How a voice session ends: the agent hangs up, the peer closes the stream, or no audio arrives. */
export class SessionEnd {
  readonly #deps: SessionEndDeps;
  readonly #watchdog: Watchdog;
  readonly #timers: Timer[] = [];
  #resolveClosed: () => void = () => undefined;
  /** How the agent ended the session; undefined until it has. */
  outcome: SessionOutcome | undefined;
  isClosed = false;

  constructor(deps: SessionEndDeps) {
    this.#deps = deps;
    this.#watchdog = createWatchdog(deps.clock, STREAM_TIMEOUT_MS, () => this.#close('no audio received'));
  }

  /** Waits until the stream is closed. */
  async closed(): Promise<void> {
    this.onAudio();
    if (!this.isClosed)
      await new Promise<void>((resolve) => {
        this.#resolveClosed = resolve;
      });
    this.#watchdog.close();
    for (const timer of this.#timers) timer.cancel();
  }

  onAudio(): void {
    this.#watchdog.start();
  }

  /** The agent hangs up. @param whenReady - Calls its argument once the call may be told. */
  hangUp(outcome: SessionOutcome, whenReady: (tell: () => void) => void): void {
    this.outcome = outcome;
    whenReady(() => this.#deps.stream.command({ kind: 'hangup', reason: HANGUP_REASONS[outcome] }));
    this.after(HANGUP_TIMEOUT_MS, () => this.#close('the agent has hung up'));
  }

  /** Calls back after this time, unless the stream is closed by then. */
  after(delayMs: number, callback: () => void): void {
    this.#timers.push(this.#deps.clock.setTimer(callback, delayMs));
  }

  /** The peer has closed the stream. Idempotent. */
  onClosed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#deps.onClosed();
    this.#resolveClosed();
  }

  #close(reason: string): void {
    this.#deps.stream.close(1000, reason);
    this.onClosed();
  }
}
