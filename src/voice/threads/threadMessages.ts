/** Messages of a voice thread. @typeParam Report - What the program wants to hear of its threads besides. */
export type FromVoiceThread<Report> =
  /**
   * The thread accepts audio streams at this port.
   *
   * @property socketPath - The Unix domain socket for calls of its node; undefined where there is none.
   * @property threadId - The operating system's id of the thread; undefined where there is none.
   */
  | {
      readonly kind: 'ready';
      readonly port: number;
      readonly socketPath?: string | undefined;
      readonly threadId?: string | undefined;
    }
  /** The number of its voice sessions has changed. */
  | { readonly kind: 'sessions'; readonly count: number }
  /** Sent every second, and thereby proves that the thread runs. */
  | { readonly kind: 'delay'; readonly delay: LoopDelay }
  /** Answers `register`. */
  | { readonly kind: 'registered' }
  /** Answers `drain`. */
  | { readonly kind: 'drained' }
  | { readonly kind: 'report'; readonly report: Report };

/** Messages to a voice thread. @typeParam Grant - What a stream is for. */
export type ToVoiceThread<Grant> =
  /** Serves the stream of a call of its node that connects with this ticket. */
  | { readonly kind: 'admit'; readonly ticket: string; readonly grant: Grant }
  /** Registers the thread with the media nodes. */
  | { readonly kind: 'register' }
  /** The node is overloaded, or no longer: other nodes choose another one. */
  | { readonly kind: 'overload'; readonly isOverloaded: boolean }
  /** Takes no new sessions from other nodes; ends the running ones after `graceMs`. */
  | { readonly kind: 'drain'; readonly graceMs: number }
  /** Ends the thread. */
  | { readonly kind: 'end' };

/** How late a thread's event loop was within the last second: a caller hears it as a late answer. */
export interface LoopDelay {
  /** The mean wait of events at random moments. */
  readonly waitMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Interval of `delay`. */
export const REPORT_INTERVAL_MS = 1_000;
