import { digitsIn, unfinishedWords, wordsOf } from './backchannel.ts';
import type { TurnPolicy } from './turnPolicy.ts';

/** Whether words look like all that somebody wanted to say. */
export type Completeness = 'finished' | 'open' | 'unfinished';

/** Where, between the shortest and the longest pause, a turn ends by how its words look. */
const PLACES: Readonly<Record<Completeness, number>> = { finished: 0.1, open: 0.35, unfinished: 0.8 };
/** So much longer than the caller's usual pause a silence must be to be an end. */
const HABIT_MARGIN = 1.25;
/** How quickly a new pause changes what counts as usual. */
const HABIT_RATE = 0.4;

/** A number of so many digits in one piece is the beginning of a longer one rather than an amount, an hour or an age. */
const LEAST_DIGITS = 3;
/** With as many as a phone number has it is told. */
const MOST_DIGITS = 10;

/** What was learnt of how a caller speaks. */
export interface CallerHabits {
  /** Of the pauses after which the caller went on; undefined before the first. */
  readonly pauseMs: number | undefined;
}

export const NO_HABITS: CallerHabits = { pauseMs: undefined };

/** The caller was silent for so long, and then went on. */
export function learnPause({ pauseMs }: CallerHabits, newMs: number): CallerHabits {
  return { pauseMs: pauseMs === undefined ? newMs : pauseMs + HABIT_RATE * (newMs - pauseMs) };
}

/** The agent began to answer after this pause, and the caller had not finished: they get at least as much next time. */
export function learnTooSoon({ pauseMs }: CallerHabits, newMs: number): CallerHabits {
  return { pauseMs: Math.max(pauseMs ?? 0, newMs) };
}

/**
 * The silence that ends the caller's turn.
 *
 * @param text - The words so far; undefined while they are not known.
 * @returns Milliseconds within the policy's bounds.
 */
export function endpointingDelayMs(
  text: string | undefined,
  expectedAnswers: readonly string[],
  habits: CallerHabits,
  policy: Pick<TurnPolicy, 'minPauseMs' | 'maxPauseMs'>,
): number {
  const { minPauseMs, maxPauseMs } = policy;
  if (text !== undefined && isExpected(text, expectedAnswers)) return minPauseMs;
  const completeness = text === undefined ? 'open' : completenessOf(text);
  const byWords = minPauseMs + PLACES[completeness] * (maxPauseMs - minPauseMs);
  const byHabit = (habits.pauseMs ?? 0) * HABIT_MARGIN;
  return Math.round(Math.min(maxPauseMs, Math.max(byWords, byHabit)));
}

/** The last word tells first, since recognisers put a full stop after anything. */
export function completenessOf(text: string): Completeness {
  const trimmed = text.trim();
  if (trimmed === '') return 'open';
  if (/(?:[,;:，、；：—–-]|\.\.\.|…)$/.test(trimmed)) return 'unfinished';
  const words = wordsOf(trimmed);
  const last = words.at(-1) ?? '';
  if (unfinishedWords.has(last) || isDictating(words)) return 'unfinished';
  if ([...unfinishedWords].some((ending) => isIdeographic(ending) && last.endsWith(ending)))
    return 'unfinished';
  return /[.!?。！？]["'”’」』)]*$/.test(trimmed) ? 'finished' : 'open';
}

/** Numbers are told in groups, names letter by letter, with pauses between them. */
function isDictating(words: readonly string[]): boolean {
  let told = 0;
  let groups = 0;
  for (const word of words.toReversed()) {
    const count = digitsIn(word);
    if (count === 0) break;
    told += count;
    groups += 1;
  }
  return (groups > 1 || told >= LEAST_DIGITS) && told < MOST_DIGITS;
}

function isExpected(text: string, expectedAnswers: readonly string[]): boolean {
  const words = wordsOf(text).join(' ');
  return words !== '' && expectedAnswers.some((answer) => wordsOf(answer).join(' ') === words);
}

function isIdeographic(word: string): boolean {
  return /^\p{Script=Han}+$/u.test(word);
}
