import type { Clock } from '../base/values/clock.ts';
import { CLOSE_SERVICE_RESTART } from './transport/streamSocket.ts';

export interface ActiveStreamsDeps<Stream> {
  readonly clock: Clock;
  /** Runs a session on the stream; resolves when it has ended. */
  readonly serveVoiceSession: (stream: Stream) => Promise<unknown>;
  readonly onCountChange: () => void;
}

/** The streams that a voice thread serves. */
export class ActiveStreams<Stream extends { close(code: number, reason: string): void }> {
  readonly #deps: ActiveStreamsDeps<Stream>;
  readonly #sessions = new Map<Stream, Promise<unknown>>();
  #drained: Promise<void> | undefined;

  constructor(deps: ActiveStreamsDeps<Stream>) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Resolves when the stream's voice session has ended. */
  async serve(stream: Stream): Promise<void> {
    const { serveVoiceSession, onCountChange } = this.#deps;
    const session = serveVoiceSession(stream);
    this.#sessions.set(stream, session);
    onCountChange();
    try {
      await session;
    } finally {
      this.#sessions.delete(stream);
      onCountChange();
    }
  }

  /** Resolves when no stream is left. After `graceMs` the gateways are asked to connect elsewhere. Idempotent. */
  drain(graceMs: number): Promise<void> {
    this.#drained ??= this.#drain(graceMs);
    return this.#drained;
  }

  async #drain(graceMs: number): Promise<void> {
    const timer = this.#deps.clock.setTimer(() => {
      for (const stream of this.#sessions.keys()) stream.close(CLOSE_SERVICE_RESTART, 'this node stops');
    }, graceMs);
    while (this.#sessions.size > 0) await Promise.allSettled(this.#sessions.values());
    timer.cancel();
  }
}
