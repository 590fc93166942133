import { expectationOf, polarityOf } from './polarity.ts';
import type { Choice, Situation } from './request.ts';
import { containsPhrase, isNegated, normalizedPhrase, type Term, termOverlap, termsOf } from './terms.ts';

/** A lower overlap is not a match; tuned on the tables of the tests. */
const MIN_SCORE = 0.4;
/** Two edges with a smaller difference are ambiguous. */
const MIN_LEAD = 0.08;
const PHRASE_SCORE = 1;
const ANSWER_SCORE = 0.9;
const WISH_SCORE = 0.6;
/** A longer answer is matched by its words, not by its yes or no. */
const MAX_POLARITY_TERMS = 4;

const QUOTED = /["“「『]([^"”」』]+)["”」』]/gu;
const ALTERNATIVE = /\s+(?:or|oder|ou)\s+|[,;，、；]|或者|或是|或|または/u;

/**
 * Selects the edge that the user's last message matches.
 *
 * @returns The id of a choice; null to stay at the node.
 */
export function chooseEdge(situation: Situation): string | null {
  const text = situation.lastUserText?.trim() ?? '';
  const choices = situation.choices ?? [];
  const last = choices.at(-1);
  // An unconditional edge is the fallback, and comes last.
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
  // A negated term outweighs every other match.
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
  // "does not want A or B" negates both.
  const isDenied = isNegated(parts[0] ?? '');
  return [sentence, ...parts.map((part) => (isDenied && !isNegated(part) ? `not ${part}` : part))];
}

/** Scores a phrase that the sentence quotes, or an expected answer that it names. */
function phraseScore(sentence: string, text: string, { expectedAnswers = [] }: Situation): number {
  const quoted = [...sentence.matchAll(QUOTED)].map(([, phrase]) => phrase ?? '');
  const isQuoted = quoted.some(
    (phrase) => containsPhrase(text, phrase) && isNegated(text) === isNegated(phrase),
  );
  const isExpected = expectedAnswers.some(
    (answer) => normalizedPhrase(answer) === normalizedPhrase(text) && containsPhrase(sentence, answer),
  );
  return isQuoted || isExpected ? PHRASE_SCORE : 0;
}

function polarityScore(sentence: string, text: string, spoken: readonly Term[], { node }: Situation): number {
  const polarity = polarityOf(text);
  const expectation = expectationOf(sentence);
  if (!polarity || expectation?.polarity !== polarity) return 0;
  if (spoken.length > MAX_POLARITY_TERMS) return 0;
  if (expectation.isExplicit) return ANSWER_SCORE;
  // A bare yes confirms only the wish that the node asks about.
  const asked = termsOf(`${node?.title ?? ''}. ${node?.prompt ?? ''}`).map(affirmed);
  return termOverlap(termsOf(sentence).map(affirmed), asked) > 0 ? WISH_SCORE : 0;
}

function affirmed({ word }: Term): Term {
  return { word, negated: false };
}

/** The best choice, unless it is too low or ambiguous. */
function leader(scored: readonly Scored[]): Choice | undefined {
  const [first, second] = scored.toSorted((one, other) => other.score - one.score);
  if (!first || first.score < MIN_SCORE) return undefined;
  return second && first.score - second.score < MIN_LEAD ? undefined : first.choice;
}
