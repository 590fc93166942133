import type { Logger } from 'pino';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type { LatencyDetails, LatencyParts } from '../../engine/session/session.ts';
import type { AnswerWaits } from '../../engine/turn/answerWaits.ts';

/** When the steps of a turn happened, as far as they have. `…StreamMs` are on the stream's clock, `…AtMs` on the process's. */
export interface TurnTimestamps {
  /** End of the caller's speech, on the stream's clock. */
  readonly lastVoicedMs: number;
  /** Start of the caller's speech, on the stream's clock; undefined where they have not spoken. */
  readonly firstVoicedMs?: number | undefined;
  /** End of turn detected. */
  readonly endpointStreamMs: number;
  readonly endpointAtMs: number;
  /** May precede the end of turn. */
  transcriptAtMs?: number;
  firstTextAtMs?: number;
  /** The first text that could be synthesized was complete. */
  firstSentenceAtMs?: number;
  firstSamplesAtMs?: number;
  /** First audible sample of the agent. */
  agentStartStreamMs?: number;
  /** Delay of the caller's audio in the jitter buffer at that moment. */
  bufferDelayMs?: number;
  /** Whether the turn began before the end was sure, or another one did in vain. */
  preemptive?: 'committed' | 'canceled' | undefined;
}

export interface TurnLatency {
  readonly latencyMs: number;
  readonly latencyParts: LatencyParts;
  readonly latencyDetails?: LatencyDetails;
}

/** A turn in which the agent was heard. */
export interface SpokenTurn {
  /** Kind of its input: `words`, `dtmf`, `silence` and so on. */
  readonly kind: string;
  readonly interrupted: boolean;
  /** Only for answers to the caller. */
  readonly latencyMs?: number;
  readonly latencyParts?: LatencyParts;
}

/**
 * Measures from the end of the caller's speech to the agent's first sample, as a recording of both sides shows it,
 * with its parts.
 *
 * The total is counted in the stream's samples. The process's clock only divides it; playout gets the rest.
 *
 * @param waits - What the first text waited for.
 * @returns Whole milliseconds, of which the parts add up to the total; undefined where the agent was not heard.
 */
export function turnLatency(timestamps: TurnTimestamps, waits: AnswerWaits): TurnLatency | undefined {
  const { lastVoicedMs, endpointStreamMs, endpointAtMs, agentStartStreamMs } = timestamps;
  if (agentStartStreamMs === undefined) return undefined;
  const bufferMs = Math.max(0, Math.round(timestamps.bufferDelayMs ?? 0));
  const totalMs = Math.max(0, Math.round(agentStartStreamMs - lastVoicedMs));
  let leftMs = totalMs;
  const part = (wantedMs: number): number => {
    const partMs = Math.min(leftMs, Math.max(0, Math.round(wantedMs)));
    leftMs -= partMs;
    return partMs;
  };
  const transcriptAtMs = Math.max(endpointAtMs, timestamps.transcriptAtMs ?? endpointAtMs);
  const textAtMs = Math.max(transcriptAtMs, timestamps.firstTextAtMs ?? transcriptAtMs);
  const samplesAtMs = Math.max(textAtMs, timestamps.firstSamplesAtMs ?? textAtMs);
  const latencyParts = {
    bufferMs,
    endpointingMs: part(endpointStreamMs - lastVoicedMs),
    transcriptionMs: part(transcriptAtMs - endpointAtMs),
    answerMs: part(textAtMs - transcriptAtMs),
    speechMs: part(samplesAtMs - textAtMs),
    playoutMs: leftMs,
    preemptive: timestamps.preemptive ?? 'none',
  } as const;
  const { firstSentenceAtMs } = timestamps;
  const waited = waits.within(textAtMs - latencyParts.answerMs, textAtMs);
  const latencyDetails = omitUndefined({
    ...waited,
    sentenceMs:
      firstSentenceAtMs === undefined
        ? undefined
        : share(latencyParts.speechMs, firstSentenceAtMs - textAtMs),
  });
  const hasDetails = Object.keys(latencyDetails).length > 0;
  return {
    latencyMs: bufferMs + totalMs,
    latencyParts,
    latencyDetails: hasDetails ? latencyDetails : undefined,
  };
}

/** Counts only what happened after the part began. */
function share(partMs: number, wantedMs: number): number {
  return Math.min(partMs, Math.max(0, Math.round(wantedMs)));
}

/** Returns when the agent was first heard, in ms since the Unix epoch; undefined when it was not. @see speechEndEpochMs */
export function agentStartEpochMs(
  timestamps: TurnTimestamps,
  nowMs: number,
  now: number,
): number | undefined {
  const { agentStartStreamMs, lastVoicedMs } = timestamps;
  if (agentStartStreamMs === undefined) return undefined;
  return speechEndEpochMs(timestamps, nowMs, now) + agentStartStreamMs - lastVoicedMs;
}

/** End of the caller's speech in ms since the Unix epoch. @param nowMs - The monotonic clock. @param now - The wall clock. */
export function speechEndEpochMs(timestamps: TurnTimestamps, nowMs: number, now: number): number {
  const { lastVoicedMs, endpointStreamMs, endpointAtMs } = timestamps;
  return now - (nowMs - endpointAtMs) - Math.max(0, endpointStreamMs - lastVoicedMs);
}

export interface TurnLogDeps {
  readonly logger: Logger;
  readonly onSpokenTurn?: ((turn: SpokenTurn) => void) | undefined;
}

/**
 * Logs each turn in which the agent was heard, with the parts of its latency.
 *
 * @param fields - Log fields that name the session.
 */
export function loggingTurns(
  { logger, onSpokenTurn }: TurnLogDeps,
  fields: object,
): (turn: SpokenTurn) => void {
  return (turn) => {
    logger.info({ ...fields, ...turn }, 'agent turn spoken');
    onSpokenTurn?.(turn);
  };
}
