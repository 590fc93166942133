/** What a voice thread does. @typeParam Grant - What a stream is for. */
export interface VoiceThreadMethods<Grant> {
  /** Serves the stream of a call of its node that connects with this ticket. */
  admit(ticket: string, grant: Grant): void;
  /** Registers the thread with the media nodes. A failed registration is repeated. */
  register(): Promise<void>;
  /** The node is overloaded, or no longer: other nodes choose another one. */
  tellOverload(isOverloaded: boolean): void;
  /** Takes no new sessions from other nodes, and resolves when none is left; after `graceMs` it closes their streams. */
  drain(graceMs: number): Promise<void>;
  end(): Promise<void>;
}

/** What a voice thread says when it accepts audio streams. */
export interface VoiceThreadReady {
  readonly port: number;
  /** The Unix domain socket for calls of its node; undefined where there is none. */
  readonly socketPath: string | undefined;
}

/** What a voice thread tells of its load. */
export interface VoiceThreadEvents {
  /** The number of its voice sessions has changed. */
  sessions(count: number): void;
  /** Told every second. */
  delay(delay: LoopDelay): void;
}

/** How late a thread's event loop was within the last second: a caller hears it as a late answer. */
export interface LoopDelay {
  /** The mean wait of events at random moments. */
  readonly waitMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Interval of {@link VoiceThreadEvents.delay}. */
export const REPORT_INTERVAL_MS = 1_000;
