import {
  CJK_NO_CUE,
  CJK_YES_CUE,
  FALSE_NEGATIONS,
  NO_CUES,
  NO_PHRASES,
  UNSURE_PHRASES,
  WISH_CUES,
  YES_CUES,
  YES_PHRASES,
} from './lexicon.ts';
import { CJK, clausesOf, containsPhrase, isNegated, normalizedPhrase, termsOf, tokenize } from './terms.ts';

export type Polarity = 'yes' | 'no';

/** What a way on expects to hear. */
export interface Expectation {
  readonly polarity: Polarity;
  /** Whether it speaks of agreement itself ("agrees"), or of a wish that a yes would grant ("wants to book"). */
  readonly isExplicit: boolean;
}

/** After so many Chinese characters a beginning such as 好 or 不 may well be part of another word. */
const LONGEST_CJK_ANSWER = 8;

/** Whether an answer agrees or declines; undefined when it does neither, or does not know. */
export function polarityOf(text: string): Polarity | undefined {
  if (isUnsure(text)) return undefined;
  if (beginsWithAny(text, FALSE_NEGATIONS)) return beginsWithAny(text, YES_PHRASES) ? 'yes' : undefined;
  if (beginsWithAny(text, NO_PHRASES)) return 'no';
  if (beginsWithAny(text, YES_PHRASES)) return 'yes';
  const clauses = clausesOf(text).filter((clause) => termsOf(clause).length > 0);
  return clauses.length > 0 && clauses.every(isNegated) ? 'no' : undefined;
}

/** Whether an answer says that the person does not know. */
export function isUnsure(text: string): boolean {
  return UNSURE_PHRASES.some((phrase) => containsPhrase(text, phrase));
}

/** Which answer a way on stands for, by its sentence. */
export function expectationOf(sentence: string): Expectation | undefined {
  const words = tokenize(sentence);
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
    return first.startsWith(phrase) && first.length <= LONGEST_CJK_ANSWER;
  });
}
