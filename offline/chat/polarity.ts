import {
  CJK_NO_CUE,
  CJK_YES_CUE,
  EMPHATIC_NO,
  FALSE_NEGATIONS,
  NO_CONSENT,
  NO_CUES,
  NO_PHRASES,
  NOTHING_MORE,
  PUT_OFF,
  UNSURE_PHRASES,
  WHOLE_YES,
  WISH_CUES,
  YES_CUES,
  YES_HEDGE,
  YES_PHRASES,
} from './lexicon.ts';
import { givesNoAnswer } from './mood.ts';
import {
  CJK,
  clausesOf,
  containsPhrase,
  countSharedTerms,
  isNegated,
  normalizedPhrase,
  termsOf,
  tokenize,
} from './terms.ts';

export type Polarity = 'yes' | 'no';

/** The answer that an edge expects. */
export interface Expectation {
  readonly polarity: Polarity;
  /** True when its sentence names agreement itself ("agrees"), not a wish that a yes confirms ("wants to book"). */
  readonly isExplicit: boolean;
}

/**
 * The longest Chinese text in which an initial 好 or 不 is an answer. In longer texts it is often part of another word.
 */
const MAX_CJK_ANSWER_CHARACTERS = 8;

/** Matches a negated description, which is no refusal. */
const NO_REFUSAL = /\b(?:am|are|is|was|were) not (?:a|an|the|my|your)\b|\bthere is (?:no|not)\b/;

/** Returns whether a text agrees or declines; undefined when it does neither, is unsure, or leaves its answer open. */
export function polarityOf(text: string): Polarity | undefined {
  if (isUnsure(text) || givesNoAnswer(text) || mocksOrAsksAgain(text) || putsOff(text)) return undefined;
  if (EMPHATIC_NO.test(normalizedPhrase(text))) return 'no';
  if (beginsWithAny(text, FALSE_NEGATIONS)) return agrees(text) ? 'yes' : undefined;
  if (beginsWithAny(text, NO_PHRASES)) return 'no';
  if (agrees(text)) return 'yes';
  const clauses = clausesOf(text).filter((clause) => termsOf(clause).length > 0 && !NO_REFUSAL.test(clause));
  return clauses.length > 0 && clauses.every(isNegated) ? 'no' : undefined;
}

/**
 * Returns true when a text says yes and nothing that is unrelated to the subject: "yes, I heard you" confirms nothing.
 */
export function agreesTo(text: string, about: string): boolean {
  if (polarityOf(text) !== 'yes') return false;
  const asked = termsOf(about);
  return clausesOf(text).every((clause) => {
    const terms = termsOf(clause);
    return terms.length === 0 || polarityOf(clause) === 'yes' || countSharedTerms(terms, asked) > 0;
  });
}

function agrees(text: string): boolean {
  const words = normalizedPhrase(text);
  if (WHOLE_YES.test(words)) return true;
  if (isNegated(text) || YES_HEDGE.test(words)) return false;
  return beginsWithAny(text, YES_PHRASES);
}

/** Returns true when the user says that they do not know. */
export function isUnsure(text: string): boolean {
  return UNSURE_PHRASES.some((phrase) => containsPhrase(text, phrase));
}

/** Returns true when a text only sounds like a yes. */
export function mocksOrAsksAgain(text: string): boolean {
  return NO_CONSENT.test(tokenize(text).join(' '));
}

/** Returns true when a text puts its deed off: "let us do it next week". */
export function putsOff(text: string): boolean {
  return PUT_OFF.test(tokenize(text).join(' '));
}

/** The answer that an edge's sentence expects. */
export function expectationOf(sentence: string): Expectation | undefined {
  const words = tokenize(sentence);
  if (NOTHING_MORE.test(sentence)) return { polarity: 'no', isExplicit: false };
  if (CJK_NO_CUE.test(sentence) || words.some((word) => NO_CUES.has(word))) {
    return { polarity: 'no', isExplicit: true };
  }
  const polarity = isNegated(sentence) ? 'no' : 'yes';
  if (CJK_YES_CUE.test(sentence) || words.some((word) => YES_CUES.has(word)))
    return { polarity, isExplicit: true };
  if (words.some((word) => WISH_CUES.has(word)) || CJK.test(sentence)) return { polarity, isExplicit: false };
  return undefined;
}

function beginsWithAny(text: string, phrases: readonly string[]): boolean {
  const spoken = normalizedPhrase(text).replace(/^(?:(?:well|um|uh|oh|ah|er|hm) |我)/u, '');
  const [first = ''] = spoken.split(' ');
  return phrases.some((phrase) => {
    if (!CJK.test(phrase)) return `${spoken} `.startsWith(`${phrase} `);
    return first.startsWith(phrase) && first.length <= MAX_CJK_ANSWER_CHARACTERS;
  });
}
