import type { LatencyParts } from '../../engine/session/session.ts';

/** When the steps of an answer came, as far as they did. */
export interface TurnTimestamps {
  /** End of the caller's last sound, on the stream's clock. */
  readonly lastVoicedMs: number;
  /** When it was sure that the caller had finished: on the stream's clock, and on the process's. */
  readonly endedStreamMs: number;
  readonly endedAtMs: number;
  /** The following on the process's clock. Words may have been known before the end was sure. */
  wordsAtMs?: number;
  firstTextAtMs?: number;
  firstSpeechAtMs?: number;
  /** The agent's first sound, on the stream's clock, and what the jitter buffer held the caller back by then. */
  soundedStreamMs?: number;
  bufferDelayMs?: number;
}

export interface TurnLatency {
  readonly latencyMs: number;
  readonly latencyParts: LatencyParts;
}

/**
 * From the caller's last sound to the agent's first, as a recording of both sides shows them, with its parts.
 *
 * The whole is counted in the stream's samples alone; what the process's own clock tells of the steps between is laid
 * into it, and the playout has what is left.
 *
 * @returns Undefined where the agent has not sounded. Milliseconds, whole ones; the parts add up.
 */
export function turnLatency(moments: TurnTimestamps): TurnLatency | undefined {
  const { lastVoicedMs, endedStreamMs, endedAtMs, soundedStreamMs } = moments;
  if (soundedStreamMs === undefined) return undefined;
  const bufferMs = Math.max(0, Math.round(moments.bufferDelayMs ?? 0));
  const totalMs = Math.max(0, Math.round(soundedStreamMs - lastVoicedMs));
  let leftMs = totalMs;
  const part = (wantedMs: number): number => {
    const partMs = Math.min(leftMs, Math.max(0, Math.round(wantedMs)));
    leftMs -= partMs;
    return partMs;
  };
  const wordsAtMs = Math.max(endedAtMs, moments.wordsAtMs ?? endedAtMs);
  const textAtMs = Math.max(wordsAtMs, moments.firstTextAtMs ?? wordsAtMs);
  const speechAtMs = Math.max(textAtMs, moments.firstSpeechAtMs ?? textAtMs);
  const latencyParts = {
    bufferMs,
    endpointingMs: part(endedStreamMs - lastVoicedMs),
    transcriptionMs: part(wordsAtMs - endedAtMs),
    answerMs: part(textAtMs - wordsAtMs),
    speechMs: part(speechAtMs - textAtMs),
    playoutMs: leftMs,
  };
  return { latencyMs: bufferMs + totalMs, latencyParts };
}
