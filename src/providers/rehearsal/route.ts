import type { Choice, Situation } from '../ports/situation.ts';
import { expectationOf, polarityOf } from './polarity.ts';
import { containsPhrase, isNegated, type Meaning, meaningsOf, overlap, phraseOf } from './words.ts';

/** Compares two sentences: 1 for the same, 0 for strangers. */
export type Similarity = (one: string, other: string) => Promise<number>;

/** Below this the words have too little to do with the way on; found by the tables of the tests. */
const LEAST_SCORE = 0.4;
/** Two ways on that are nearer to each other than this are a toss-up. */
const LEAST_LEAD = 0.08;
/** For embeddings of sentences, under which unrelated ones about the same trade score up to about a half. */
const LEAST_SIMILARITY = 0.6;
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
 * @param similarity - Asked only when the words alone do not tell.
 * @returns The id of a choice; null to stay.
 */
export async function chooseEdge(situation: Situation, similarity?: Similarity): Promise<string | null> {
  const text = situation.lastUserText?.trim() ?? '';
  const choices = situation.choices ?? [];
  const last = choices.at(-1);
  // A way on without a sentence is the one for everything else, and comes last.
  const otherwise = last?.sentence === '' ? last : undefined;
  if (text === '') return null;
  const judged = choices.filter((choice) => choice !== otherwise);
  const scored = judged.map((choice) => ({ choice, score: scoreOf(choice, text, situation) }));
  const best = leader(scored, LEAST_SCORE);
  if (best) return best.id;
  const near = similarity ? await mostSimilar(scored, text, similarity) : undefined;
  return near?.id ?? otherwise?.id ?? null;
}

interface Scored {
  readonly choice: Choice;
  readonly score: number;
}

function scoreOf(choice: Choice, text: string, situation: Situation): number {
  const sentence = choice.sentence || choice.label;
  const spoken = meaningsOf(text);
  const words = Math.max(
    ...alternativesOf(sentence).map((alternative) => overlap(meaningsOf(alternative), spoken)),
  );
  // What is denied is denied, however the rest fits.
  if (words < 0) return words;
  return Math.max(
    words,
    overlap(meaningsOf(choice.label), spoken),
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
    (answer) => phraseOf(answer) === phraseOf(text) && containsPhrase(sentence, answer),
  );
  return isQuoted || isExpected ? SCORE_OF_A_PHRASE : 0;
}

function polarityScore(
  sentence: string,
  text: string,
  spoken: readonly Meaning[],
  { node }: Situation,
): number {
  const polarity = polarityOf(text);
  const expectation = expectationOf(sentence);
  if (!polarity || expectation?.polarity !== polarity) return 0;
  if (spoken.length > MOST_WORDS_BESIDE_A_POLARITY) return 0;
  if (expectation.isExplicit) return SCORE_OF_AN_ANSWER;
  // A bare yes grants the wish that was asked about, and no other.
  const asked = meaningsOf(`${node?.title ?? ''}. ${node?.prompt ?? ''}`).map(affirmed);
  return overlap(meaningsOf(sentence).map(affirmed), asked) > 0 ? SCORE_OF_A_WISH : 0;
}

function affirmed({ word }: Meaning): Meaning {
  return { word, negated: false };
}

/** The best, when it is good enough and far enough before the next. */
function leader(scored: readonly Scored[], least: number): Choice | undefined {
  const [first, second] = scored.toSorted((one, other) => other.score - one.score);
  if (!first || first.score < least) return undefined;
  return second && first.score - second.score < LEAST_LEAD ? undefined : first.choice;
}

async function mostSimilar(
  scored: readonly Scored[],
  text: string,
  similarity: Similarity,
): Promise<Choice | undefined> {
  // Embeddings hardly tell a sentence from its denial, and nothing from a mere yes or no.
  if (polarityOf(text) !== undefined) return undefined;
  const open = scored.filter(({ score }) => score >= 0);
  const compared = await Promise.all(
    open.map(async ({ choice }) => ({
      choice,
      score: await similarity(text, choice.sentence || choice.label),
    })),
  );
  return leader(compared, LEAST_SIMILARITY);
}
