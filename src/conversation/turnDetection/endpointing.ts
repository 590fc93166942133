import type { TurnDetection } from '../../agents/speech/turnDetection.ts';
import { type Completeness, completenessOf, wordsOf } from './completeness.ts';

/** The share of the range between the shortest and the longest delay. @see `npm run bench:turns` */
const DELAY_SHARES: Readonly<Record<Completeness, number>> = {
  complete: 0,
  open: 0.35,
  incomplete: 0.8,
  dictating: 0.8,
};
/** The same by the agent's eagerness. */
const EAGERNESS: Readonly<Record<TurnDetection['eagerness'], number>> = { low: 1.5, medium: 1, high: 0.5 };
/** Silence after words that look complete at which an answer is prepared. */
const PREEMPT_AFTER_MS = 150;
/** Silence that is worth a transcript request; most pauses within a turn are shorter. */
const REQUEST_AFTER_MS = 200;
/** The same where a request costs nothing. */
const STREAMING_REQUEST_AFTER_MS = 100;
/** A silence must exceed the caller's usual pause by this factor to be an end. */
const PAUSE_MARGIN = 1.25;
/** Weight of a new pause in the moving average. */
const PAUSE_WEIGHT = 0.4;

/** The same for the pauses between the groups of a number, which are alike. */
const DICTATION_MARGIN = 1.75;

/** Bounds of the silence that ends the caller's turn. */
export interface EndpointingBounds {
  readonly minEndpointingDelayMs: number;
  readonly maxEndpointingDelayMs: number;
}

export interface RecognizerAbilities {
  /** Words come while they are spoken. */
  readonly isStreaming: boolean;
  readonly detectsTurns: boolean;
}

/** The caller's turn so far. */
export interface CallerTurn {
  /** The words so far; undefined while they are not known. */
  readonly transcript: string | undefined;
  readonly recognizedEnd: 'eager_end' | 'end_of_turn' | undefined;
}

/** How a caller speaks, learned during the session: averages of the pauses after which the caller continued. */
export interface CallerPauses {
  /** The average pause after words that could have been all. */
  readonly averageMs?: number | undefined;
  /** The average pause within a number. */
  readonly dictationMs?: number | undefined;
}

export const NO_PAUSES: CallerPauses = {};

/**
 * The caller paused this long and continued.
 *
 * @param transcript - The words before the pause, as far as they were known.
 */
export function learnPause(
  pauses: CallerPauses,
  pauseMs: number,
  transcript: string | undefined,
): CallerPauses {
  // Without words it is not known whether the caller continued, or said it again.
  if (transcript === '') return pauses;
  switch (transcript === undefined ? 'open' : completenessOf(transcript)) {
    case 'incomplete':
      // The words told that more would follow, and will again.
      return pauses;
    case 'dictating':
      return { ...pauses, dictationMs: averaged(pauses.dictationMs, pauseMs) };
    default:
      return { ...pauses, averageMs: averaged(pauses.averageMs, pauseMs) };
  }
}

/** The agent answered after this pause before the caller had finished: the next endpoint waits at least as long. */
export function learnEarlyEndpoint(pauses: CallerPauses, pauseMs: number): CallerPauses {
  return { ...pauses, averageMs: Math.max(pauses.averageMs ?? 0, pauseMs) };
}

export interface EndpointingOptions {
  readonly bounds: EndpointingBounds;
  readonly expectedAnswers: readonly string[];
  readonly pauses: CallerPauses;
  readonly detection: TurnDetection;
  readonly recognizer: RecognizerAbilities;
}

/**
 * The silence that ends the caller's turn, from three signals: the recognizer's opinion, the words so far, and how this
 * caller pauses.
 *
 * @returns Milliseconds; 0 where the recognizer has heard the end, else within the bounds.
 */
export function endpointingDelayMs(turn: CallerTurn, options: EndpointingOptions): number {
  const { bounds, expectedAnswers, detection } = options;
  const { minEndpointingDelayMs: minMs, maxEndpointingDelayMs: maxMs } = bounds;
  const { transcript, recognizedEnd } = turn;
  const isExpectedAnswer = transcript !== undefined && isExpected(transcript, expectedAnswers);
  if (usesTurnEvents(options)) {
    const completeness = transcript === undefined ? 'open' : completenessOf(transcript);
    const isIncomplete = completeness === 'incomplete' || completeness === 'dictating';
    const isTrusted = detection.mode === 'provider' || isExpectedAnswer || !isIncomplete;
    if (recognizedEnd === 'end_of_turn' && isTrusted) return 0;
    // A recognizer that hears the end will say so; silence alone counts for when it does not.
    if (recognizedEnd === undefined)
      return detection.mode === 'provider' ? maxMs : silenceMs('incomplete', options);
  }
  if (isExpectedAnswer) return minMs;
  return silenceMs(transcript === undefined ? 'open' : completenessOf(transcript), options);
}

/** Silence after which an answer is prepared; undefined for never. */
export function preemptAfterMs(turn: CallerTurn, options: EndpointingOptions): number | undefined {
  const { transcript, recognizedEnd } = turn;
  if (!options.detection.preemptive || !options.recognizer.isStreaming) return undefined;
  if (usesTurnEvents(options)) return recognizedEnd === undefined ? undefined : 0;
  if (transcript === undefined) return undefined;
  const completeness = completenessOf(transcript);
  return completeness === 'complete' || completeness === 'open' ? PREEMPT_AFTER_MS : undefined;
}

/** Silence after which the transcript is requested. */
export function requestAfterMs({ isStreaming }: RecognizerAbilities): number {
  return isStreaming ? STREAMING_REQUEST_AFTER_MS : REQUEST_AFTER_MS;
}

function usesTurnEvents({ detection, recognizer }: EndpointingOptions): boolean {
  return recognizer.detectsTurns && detection.mode !== 'silence';
}

function silenceMs(completeness: Completeness, { bounds, pauses, detection }: EndpointingOptions): number {
  const { minEndpointingDelayMs: minMs, maxEndpointingDelayMs: maxMs } = bounds;
  const delayMs = (share: number) => minMs + share * EAGERNESS[detection.eagerness] * (maxMs - minMs);
  const byPauses = (pauses.averageMs ?? 0) * PAUSE_MARGIN;
  const byTranscript = delayMs(DELAY_SHARES[completeness]);
  const groupsMs = pauses.dictationMs ?? pauses.averageMs;
  const byGroups =
    completeness === 'dictating' && groupsMs !== undefined
      ? Math.max(delayMs(DELAY_SHARES.open), groupsMs * DICTATION_MARGIN)
      : byTranscript;
  return Math.round(Math.min(maxMs, Math.max(Math.min(byTranscript, byGroups), byPauses)));
}

function averaged(averageMs: number | undefined, pauseMs: number): number {
  return averageMs === undefined ? pauseMs : averageMs + PAUSE_WEIGHT * (pauseMs - averageMs);
}

function isExpected(text: string, expectedAnswers: readonly string[]): boolean {
  const words = wordsOf(text).join(' ');
  return words !== '' && expectedAnswers.some((answer) => wordsOf(answer).join(' ') === words);
}
