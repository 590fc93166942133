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

/** The answer that an edge expects. */
export interface Expectation {
  readonly polarity: Polarity;
  /** Whether its sentence names agreement itself ("agrees"), not a wish that a yes confirms ("wants to book"). */
  readonly isExplicit: boolean;
}

/** In a longer Chinese text an initial 好 or 不 is often part of another word. */
const MAX_CJK_ANSWER_CHARACTERS = 8;

/** Whether a text agrees or declines; undefined when it does neither or is unsure. */
export function polarityOf(text: string): Polarity | undefined {
  if (isUnsure(text)) return undefined;
  if (beginsWithAny(text, FALSE_NEGATIONS)) return beginsWithAny(text, YES_PHRASES) ? 'yes' : undefined;
  if (beginsWithAny(text, NO_PHRASES)) return 'no';
  if (beginsWithAny(text, YES_PHRASES)) return 'yes';
  const clauses = clausesOf(text).filter((clause) => termsOf(clause).length > 0);
  return clauses.length > 0 && clauses.every(isNegated) ? 'no' : undefined;
}

/** Whether the user says that they do not know. */
export function isUnsure(text: string): boolean {
  return UNSURE_PHRASES.some((phrase) => containsPhrase(text, phrase));
}

/** The answer that an edge's sentence expects. */
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
    return first.startsWith(phrase) && first.length <= MAX_CJK_ANSWER_CHARACTERS;
  });
}
