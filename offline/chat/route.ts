import { NO_CUES, NOTHING_MORE, PARAPHRASES, YES_CUES, YES_HEDGE } from './lexicon.ts';
import {
  type Clause,
  clausesWithMood,
  isLightVerb,
  type Mood,
  wishedVerb,
  withoutDeniedFacts,
} from './mood.ts';
import { agreesTo, expectationOf, mocksOrAsksAgain, polarityOf, putsOff } from './polarity.ts';
import type { Choice, Situation } from './request.ts';
import {
  containsPhrase,
  isNegated,
  isSameTerm,
  normalize,
  normalizedPhrase,
  type Term,
  termOverlap,
  termsOf,
  tokenize,
} from './terms.ts';

/** A lower overlap is not a match; tuned on the tables of the tests. */
const MIN_SCORE = 0.4;
/** The smallest difference between two edges that are not ambiguous. */
const MIN_LEAD = 0.08;
const PHRASE_SCORE = 1;
const ANSWER_SCORE = 0.9;
const WISH_SCORE = 0.6;
/** A longer answer is matched by its words, not by its yes or no. */
const MAX_POLARITY_TERMS = 4;

/** The subject of an edge's sentence. */
const SUBJECT =
  /^(?:(?:if|when) )?(?:the )?(?:caller|customer|user|person|client|guest|patient|callee|they|he|she)\b/i;
const WANTS =
  /\b(?:wants?|needs?|would like|wishes|wish|likes? to|is looking|requests?|asks? to)\b(?! to know)/i;
const ASKS_FOR = /\basks? for\b/i;
const ASKS = /\basks?\b/i;
const ASKS_BACK = /^(?:can|could|may|would|will) (?:i|we|you)\b/;
const WANTED_VERB = /\b(?:wants?|needs?|would like|wishes|asks?) to (\p{L}+)/u;
const BEGINS_WITH_NO = /^(?:no|nope|nah)\b/i;
/** A "no" in a sentence that does not negate what follows it. */
const SAYS_NO = /\b(?:(?:says?|answers?) no|nothing (?:more|else|further))\b/i;
const ABOUT = /\b(?:about|regarding|concerning)\b/;

const QUOTED = /["“「『]([^"”」』]+)["”」』]/gu;
const ALTERNATIVE = /\s+(?:or|oder|ou)\s+|[,;，、；]|或者|或是|或|または/u;

/**
 * Selects the edge that the user's last message matches.
 *
 * @returns The id of a choice; null to stay at the node.
 */
export function chooseEdge(situation: Situation): string | null {
  const text = situation.lastUserText?.trim() ?? '';
  if (text === '') return null;
  const { choices = [] } = situation;
  const scored = choices.map((choice) => ({ choice, score: scoreOf(choice, text, situation) }));
  return leader(scored)?.id ?? null;
}

interface Scored {
  readonly choice: Choice;
  readonly score: number;
}

function scoreOf({ sentence }: Choice, text: string, situation: Situation): number {
  const spoken = clausesWithMood(paraphrased(text));
  const scores = alternativesOf(sentence).map((alternative) => wordScore(alternative, spoken));
  const words = Math.max(...scores);
  // A negated term outweighs every other match.
  const denied = Math.min(...scores);
  if (words < 0 || (words === 0 && denied < 0 && !BEGINS_WITH_NO.test(text))) return denied;
  return Math.max(words, phraseScore(sentence, text, situation), polarityScore(sentence, text, situation));
}

/** The words of a sentence without its subject, with some common phrases in other words. */
function paraphrased(text: string): string {
  return PARAPHRASES.reduce((rest, [phrase, words]) => rest.replaceAll(phrase, words), normalize(text));
}

/** Scores the words that an edge's sentence shares with the clauses that can mean it. */
function wordScore(sentence: string, clauses: readonly Clause[]): number {
  const plain = paraphrased(sentence.trim().replace(SUBJECT, ''));
  const kind = kindOf(sentence);
  const meant = clauses.filter(({ mood, text }) => {
    // "We had breakfast" asks nothing about it; "my parcel has not come" does.
    if (kind === 'asks' && mood === 'statement') return isNegated(text);
    return !EXCLUDED[kind].includes(mood);
  });
  const takesFacts = !isNegated(plain) && (kind === 'tells' || kind === 'asks');
  const spoken = meant.map(({ text }) => (takesFacts ? withoutDeniedFacts(text) : text));
  if (kind === 'agrees' && !namesAgreement(spoken.join('. '))) return 0;
  const terms = termsOf(spoken.join('. '));
  const sought = termsOf(plain);
  const score = termOverlap(sought, terms);
  if (kind !== 'wants' || score < 0) return score;
  if (meant.some(({ text }) => !isNegated(text) && wishesOtherwise(text, plain))) return 0;
  // "An appointment, please" asks to book one.
  const thing = sought.filter(({ word }) => word !== 'book');
  const isAbout = thing.length === sought.length || meant.some(({ text }) => ABOUT.test(text));
  return isAbout ? score : Math.max(score, termOverlap(thing, terms));
}

/** Returns true when a wish and an edge name two different actions: "see the room" is not "book the room". */
function wishesOtherwise(wish: string, sentence: string): boolean {
  const done = wishedVerb(wish);
  const verb = WANTED_VERB.exec(sentence)?.[1] ?? '';
  const [sought] = termsOf(verb);
  if (!done || !sought) return false;
  const named = isLightVerb(verb) || ALTERNATIVE.test(sentence) ? termsOf(sentence) : [sought];
  return !named.some(({ word }) => isSameTerm(word, done.word));
}

function namesAgreement(text: string): boolean {
  const words = tokenize(text);
  if (YES_HEDGE.test(words.join(' ')) || ASKS_BACK.test(text) || mocksOrAsksAgain(text) || putsOff(text))
    return false;
  return words.some((word) => YES_CUES.has(word) || NO_CUES.has(word));
}

type Kind = 'agrees' | 'wants' | 'asks_for' | 'asks' | 'tells';

/** The moods that exclude an edge of each kind. */
const EXCLUDED: Readonly<Record<Kind, readonly Mood[]>> = {
  agrees: ['open', 'question'],
  wants: ['open', 'question', 'statement'],
  asks_for: ['open', 'statement'],
  asks: [],
  tells: [],
};

function kindOf(sentence: string): Kind {
  if (expectationOf(sentence)?.isExplicit) return 'agrees';
  if (WANTS.test(sentence) && !NOTHING_MORE.test(sentence)) return 'wants';
  if (ASKS_FOR.test(sentence)) return 'asks_for';
  return ASKS.test(sentence) ? 'asks' : 'tells';
}

function alternativesOf(sentence: string): string[] {
  const parts = sentence.split(ALTERNATIVE).filter((part) => part.trim() !== '');
  if (parts.length < 2) return [sentence];
  // "does not want A or B" negates both.
  const isDenied = isNegated((parts[0] ?? '').replace(SAYS_NO, ''));
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

function polarityScore(sentence: string, text: string, { node }: Situation): number {
  const polarity = polarityOf(text);
  const expectation = expectationOf(sentence);
  if (!polarity || expectation?.polarity !== polarity) return 0;
  if (termsOf(text).length > MAX_POLARITY_TERMS) return 0;
  const about = `${node?.title ?? ''}. ${node?.prompt ?? ''}`;
  if (polarity === 'yes' && !agreesTo(text, `${about} ${sentence}`)) return 0;
  if (expectation.isExplicit) return ANSWER_SCORE;
  if (NOTHING_MORE.test(sentence)) return BEGINS_WITH_NO.test(text) ? WISH_SCORE : 0;
  // A bare yes confirms only the wish that the node asks about.
  const asked = termsOf(about).map(affirmed);
  return termOverlap(termsOf(sentence).map(affirmed), asked) > 0 ? WISH_SCORE : 0;
}

function affirmed({ word }: Term): Term {
  return { word, negated: false };
}

/** The best choice, unless it is ambiguous. A low one is taken only where the words fit no other choice at all. */
function leader(scored: readonly Scored[]): Choice | undefined {
  const [first, second] = scored.toSorted((one, other) => other.score - one.score);
  if (!first || first.score <= 0) return undefined;
  if (first.score < MIN_SCORE) return second && second.score > 0 ? undefined : first.choice;
  return second && first.score - second.score < MIN_LEAD ? undefined : first.choice;
}
