import type { TurnDetection } from '../../agents/speech/turnDetection.ts';

/** Whether a transcript looks like everything the caller wants to say. */
export type Completeness = 'complete' | 'open' | 'incomplete';

/** Where the delay lies between its bounds. */
const DELAY_SHARES: Readonly<Record<Completeness, number>> = { complete: 0.1, open: 0.35, incomplete: 0.8 };
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

/** A number of this many digits is the start of a longer one rather than an amount, an hour or an age. */
const MIN_DICTATED_DIGITS = 3;
/** A phone number is complete with this many. */
const MAX_DICTATED_DIGITS = 10;

/** Bounds of the silence that ends the caller's turn. */
export interface EndpointingBounds {
  readonly minEndpointingDelayMs: number;
  readonly maxEndpointingDelayMs: number;
}

/** What the recognizer can tell. */
export interface RecognizerAbilities {
  /** Words come while they are spoken. */
  readonly isStreaming: boolean;
  readonly detectsTurns: boolean;
}

/** The caller's turn so far. */
export interface CallerTurn {
  /** Undefined while it is not known. */
  readonly transcript: string | undefined;
  readonly recognizedEnd: 'eager_end' | 'end_of_turn' | undefined;
}

/** How a caller speaks, learned during the session. */
export interface CallerPauses {
  /** Average of the pauses after which the caller continued; undefined before the first. */
  readonly averageMs: number | undefined;
}

export const NO_PAUSES: CallerPauses = { averageMs: undefined };

/** The caller paused this long and continued. */
export function learnPause({ averageMs }: CallerPauses, pauseMs: number): CallerPauses {
  return { averageMs: averageMs === undefined ? pauseMs : averageMs + PAUSE_WEIGHT * (pauseMs - averageMs) };
}

/** The agent answered after this pause before the caller had finished: the next endpoint waits at least as long. */
export function learnEarlyEndpoint({ averageMs }: CallerPauses, pauseMs: number): CallerPauses {
  return { averageMs: Math.max(averageMs ?? 0, pauseMs) };
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
    const isIncomplete = transcript !== undefined && completenessOf(transcript) === 'incomplete';
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
  if (transcript === undefined || completenessOf(transcript) === 'incomplete') return undefined;
  return PREEMPT_AFTER_MS;
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
  const byTranscript = minMs + DELAY_SHARES[completeness] * EAGERNESS[detection.eagerness] * (maxMs - minMs);
  const byPauses = (pauses.averageMs ?? 0) * PAUSE_MARGIN;
  return Math.round(Math.min(maxMs, Math.max(byTranscript, byPauses)));
}

/** The last word counts more than punctuation, since recognizers put a full stop after anything. */
export function completenessOf(text: string): Completeness {
  const trimmed = text.trim();
  if (trimmed === '') return 'open';
  if (/(?:[,;:，、；：—–-]|\.\.\.|…)$/.test(trimmed)) return 'incomplete';
  const words = wordsOf(trimmed);
  const last = words.at(-1) ?? '';
  if (INCOMPLETE_ENDINGS.has(last) || isDictating(words)) return 'incomplete';
  if ([...INCOMPLETE_ENDINGS].some((ending) => isHan(ending) && last.endsWith(ending))) return 'incomplete';
  return /[.!?。！？]["'”’」』)]*$/.test(trimmed) ? 'complete' : 'open';
}

/** A text's words in lower case, without punctuation; a run of Chinese characters is one word. */
export function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu) ?? []
  );
}

/** Words that no turn ends with. */
const INCOMPLETE_ENDINGS: ReadonlySet<string> = new Set(
  splitWords(`
    and or but so because if when while although than as like
    the a an this these those my your his her our their
    to of in on at for with from by about into
    is are was were am be i'm it's i we they he she
    um uh er erm hmm well actually maybe
    can could would should will want need
    y o pero porque que si de del el la los las un una con para por en mi su
    et ou mais parce car que si de du le la les un une avec pour dans mon ma
    und oder aber weil dass wenn der die das ein eine mit für von zu ich
    然後 因為 所以 如果 但是 可是 那個 就是 還有 或是 或者 而且 我想 我要 跟 和 的 把 在 從
    然后 因为 但 还有 那个
  `),
);

/** Spoken digits. */
const DIGIT_WORDS: ReadonlySet<string> = new Set(
  splitWords(`
    zero oh one two three four five six seven eight nine double triple
    cero uno dos tres cuatro cinco seis siete ocho nueve
    zéro un deux trois quatre cinq sept huit neuf
    null eins zwei zwo drei vier fünf sechs sieben acht neun
  `),
);

/** Whether the words end in a number told in groups or a name spelled letter by letter, with pauses in between. */
function isDictating(words: readonly string[]): boolean {
  let digits = 0;
  let groups = 0;
  for (const word of words.toReversed()) {
    const count = digitsIn(word);
    if (count === 0) break;
    digits += count;
    groups += 1;
  }
  return (groups > 1 || digits >= MIN_DICTATED_DIGITS) && digits < MAX_DICTATED_DIGITS;
}

/** How many digits or single letters a word tells; 0 for any other word. */
function digitsIn(word: string): number {
  if (/^[\d-]+$/.test(word)) return word.replaceAll('-', '').length;
  if (/^[零〇一二兩两三四五六七八九]+$/.test(word)) return word.length;
  return DIGIT_WORDS.has(word) || /^\p{Script=Latin}$/u.test(word) ? 1 : 0;
}

function isExpected(text: string, expectedAnswers: readonly string[]): boolean {
  const words = wordsOf(text).join(' ');
  return words !== '' && expectedAnswers.some((answer) => wordsOf(answer).join(' ') === words);
}

function isHan(word: string): boolean {
  return /^\p{Script=Han}+$/u.test(word);
}

function splitWords(words: string): string[] {
  return words.split(/\s+/).filter((word) => word !== '');
}
