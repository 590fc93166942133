import type { AudioCommands, MediaEvents, PartyCommands } from '../mediaSession.ts';
import type { CallAudioOptions } from '../session/callAudio.ts';

/** A media thread's worker data. */
export interface MediaThreadData {
  /** A local address to listen on. */
  readonly address: string;
}

/** What a media thread does. The main thread numbers the sessions. */
export interface MediaThreadMethods {
  open(session: number, options: Omit<CallAudioOptions, 'address' | 'emit' | 'advanceTicks'>): Promise<void>;
  /** Performs a command of a session. Another session among its arguments is a {@link SessionReference}. */
  command(session: number, name: MediaCommand, args: readonly unknown[]): unknown;
  statistics(): ThreadStatistics;
  /** Closes all sessions and ends the thread. */
  end(): Promise<void>;
}

export interface MediaThreadEvents {
  event<Name extends keyof MediaEvents>(session: number, name: Name, value: MediaEvents[Name]): void;
  /** A session's tick threw: a defect. */
  fault(session: number, message: string): void;
}

export type MediaCommand = keyof AudioCommands | keyof PartyCommands;

/** Stands for another session among a command's arguments. */
export interface SessionReference {
  readonly sessionNumber: number;
}

/** The punctuality of a thread since its start. */
export interface ThreadStatistics {
  readonly sessions: number;
  /** True when the thread has raised scheduling priority. */
  readonly hasPriority: boolean;
  /** The ticks whose packets were sent. */
  readonly ticks: number;
  /** The ticks that were skipped as too late. The delays count them too. */
  readonly skippedTicks: number;
  readonly tickDelayP50Ms: number;
  readonly tickDelayP99Ms: number;
  readonly tickDelayMaxMs: number;
  /** Subtract an earlier copy to get the delays of an interval. @see DelayHistogram.counts */
  readonly tickDelayCounts: Float64Array;
}
