import type { TurnInput } from '../../engine/turn/turn.ts';
import type { TurnPolicy } from './turnSettings.ts';
import type { TurnState } from './turnState.ts';

/** A turn of the agent since neither side speaks. */
export interface SilenceTurn {
  readonly input: TurnInput;
  /** The agent hangs up after it. */
  readonly isLast: boolean;
  /** A reprompt does not end the silence; an edge that is taken does. */
  readonly endsSilence: boolean;
}

/**
 * @param atMs - The time on the clock of `state`, whose `sinceMs` is when both sides fell silent, or the last reprompt
 *   ended.
 * @returns The turn that is due: at the edge's own time, or as often as the node reprompts.
 */
export function silenceTurn(
  { sinceMs, silentSinceMs = sinceMs, silences }: Pick<TurnState, 'sinceMs' | 'silentSinceMs' | 'silences'>,
  { silenceAfterMs, silenceEdgeMs, hangupAfter }: TurnPolicy,
  atMs: number,
): SilenceTurn | undefined {
  const durationMs = atMs - silentSinceMs;
  const input = { kind: 'silence', durationMs } as const;
  if (silenceEdgeMs !== undefined && durationMs >= silenceEdgeMs)
    return { input, isLast: false, endsSilence: true };
  if (atMs - sinceMs < silenceAfterMs) return undefined;
  const isLast = hangupAfter > 0 && silences + 1 > hangupAfter;
  // The pathway has still to take its edge.
  if (isLast && silenceEdgeMs !== undefined) return undefined;
  return { input, isLast, endsSilence: false };
}
