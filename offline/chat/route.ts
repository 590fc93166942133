import { expectationOf, polarityOf } from './polarity.ts';
import type { Choice, Situation } from './request.ts';
import { containsPhrase, isNegated, normalizedPhrase, type Term, termOverlap, termsOf } from './terms.ts';

/** Below this the words have too little to do with the way on; found by the tables of the tests. */
const LEAST_SCORE = 0.4;
/** Two ways on that are nearer to each other than this are a toss-up. */
const LEAST_LEAD = 0.08;
const SCORE_OF_A_PHRASE = 1;
const SCORE_OF_AN_ANSWER = 0.9;
const SCORE_OF_A_WISH = 0.6;
/** A yes or no that is followed by more than this speaks for itself by its words. */
const MOST_WORDS_BESIDE_A_POLARITY = 4;

const QUOTED = /["“「『]([^"”」』]+)["”」』]/gu;
const ALTERNATIVE = /\s+(?:or|oder|ou)\s+|[,;，、；]|或者|或是|或|または/u;

/**
 * Picks the way on that the person's words call for.
 *
 * @returns The id of a choice; null to stay.
 */
export function chooseEdge(situation: Situation): string | null {
  const text = situation.lastUserText?.trim() ?? '';
  const choices = situation.choices ?? [];
  const last = choices.at(-1);
  // A way on without a sentence is the one for everything else, and comes last.
  const otherwise = last?.sentence === '' ? last : undefined;
  if (text === '') return null;
  const judged = choices.filter((choice) => choice !== otherwise);
  const scored = judged.map((choice) => ({ choice, score: scoreOf(choice, text, situation) }));
  const best = leader(scored);
  return best?.id ?? otherwise?.id ?? null;
}

interface Scored {
  readonly choice: Choice;
  readonly score: number;
}

function scoreOf(choice: Choice, text: string, situation: Situation): number {
  const sentence = choice.sentence || choice.label;
  const spoken = termsOf(text);
  const words = Math.max(
    ...alternativesOf(sentence).map((alternative) => termOverlap(termsOf(alternative), spoken)),
  );
  // What is denied is denied, however the rest fits.
  if (words < 0) return words;
  return Math.max(
    words,
    termOverlap(termsOf(choice.label), spoken),
    phraseScore(sentence, text, situation),
    polarityScore(sentence, text, spoken, situation),
  );
}

function alternativesOf(sentence: string): string[] {
  const parts = sentence.split(ALTERNATIVE).filter((part) => part.trim() !== '');
  if (parts.length < 2) return [sentence];
  // "does not want A or B" denies both.
  const isDenied = isNegated(parts[0] ?? '');
  return [sentence, ...parts.map((part) => (isDenied && !isNegated(part) ? `not ${part}` : part))];
}

/** Words that a way on quotes, or an expected answer that it names, were said just so. */
function phraseScore(sentence: string, text: string, { expectedAnswers = [] }: Situation): number {
  const quoted = [...sentence.matchAll(QUOTED)].map(([, phrase]) => phrase ?? '');
  const isQuoted = quoted.some(
    (phrase) => containsPhrase(text, phrase) && isNegated(text) === isNegated(phrase),
  );
  const isExpected = expectedAnswers.some(
    (answer) => normalizedPhrase(answer) === normalizedPhrase(text) && containsPhrase(sentence, answer),
  );
  return isQuoted || isExpected ? SCORE_OF_A_PHRASE : 0;
}

function polarityScore(sentence: string, text: string, spoken: readonly Term[], { node }: Situation): number {
  const polarity = polarityOf(text);
  const expectation = expectationOf(sentence);
  if (!polarity || expectation?.polarity !== polarity) return 0;
  if (spoken.length > MOST_WORDS_BESIDE_A_POLARITY) return 0;
  if (expectation.isExplicit) return SCORE_OF_AN_ANSWER;
  // A bare yes grants the wish that was asked about, and no other.
  const asked = termsOf(`${node?.title ?? ''}. ${node?.prompt ?? ''}`).map(affirmed);
  return termOverlap(termsOf(sentence).map(affirmed), asked) > 0 ? SCORE_OF_A_WISH : 0;
}

function affirmed({ word }: Term): Term {
  return { word, negated: false };
}

/** The best, when it is good enough and far enough before the next. */
function leader(scored: readonly Scored[]): Choice | undefined {
  const [first, second] = scored.toSorted((one, other) => other.score - one.score);
  if (!first || first.score < LEAST_SCORE) return undefined;
  return second && first.score - second.score < LEAST_LEAD ? undefined : first.choice;
}
