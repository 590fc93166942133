import { CLAUSE_BREAK } from './lexicon.ts';
import { isNegated, normalize, type Term, termsOf, tokenize } from './terms.ts';

/** A clause, and what the speaker does with it. Each text is normalized. */
export interface Clause {
  readonly text: string;
  readonly mood: Mood;
}

/**
 * `open` is a wish that is not decided: a condition, a thought, a request to wait. A `phrase` has no subject, as an
 * order.
 */
export type Mood = 'wish' | 'question' | 'statement' | 'open' | 'phrase';

/** A sentence, and the mark at its end. */
const SENTENCE = /[^.!?。！？\n]+[.!?。！？\n]*/gu;

/** Matches polite questions without a condition. */
const POLITE =
  /\b(?:wonder(?:ing|ed)?|know|see|ask|check|possible|okay|ok|mind) if\b|\bif (?:possible|i may|i might|you do not mind|you would not mind|that is (?:ok|okay|possible|all right|alright|fine))\b/g;
const OPEN = new RegExp(
  [
    '\\b(?:if|unless|suppose|supposing|in case|might|undecided|not (?:yet|now|right now))\\b',
    '(?:^|\\b(?:well|yes|no|um|uh|oh|so|and|or|but) )(?:maybe|perhaps)\\b|\\b(?:maybe|perhaps)$',
    '\\b(?:let|give) (?:me|us) (?:think|check|ask|see|a (?:moment|minute|second|sec|bit)|some time|one (?:moment|second))\\b',
    '\\b(?:think|thinking|thought) (?:about|of|over|it over|on it)\\b',
    '\\b(?:am|are|was) (?:still |just |only )?(?:thinking|considering|wondering|deciding|waiting)\\b(?! (?:if|about|whether|wh|how))',
    '\\b(?:need|want|have|like|love|going) to (?:think|consider|decide|wait|check (?:with|my|our)|ask (?:my|his|her|our)|talk to my|sleep on)\\b',
    '\\bnot (?:sure|certain|decided|quite sure|ready)\\b|\\b(?:have|has) not (?:yet )?(?:decided|made up)\\b',
    '\\bhold on\\b|\\b(?:just )?(?:a|one) (?:moment|minute|second|sec)\\b|^(?:(?:no|well|oh|um|please|just) )?wait\\b|\\b(?:ask|call|decide|confirm|answer|do|book|cancel|order|pay)(?: (?:you|it|that|this|again))* later\\b',
  ].join('|'),
);
const WISH = new RegExp(
  [
    '\\b(?:want|wanna|need|demand|prefer|must|wish to|have to|has to|got to|gotta|please|let me|let us)\\b',
    '\\b(?:i|we) (?:just |only )?wanted\\b(?!.*\\b(?:ago|yesterday|last)\\b)',
    '\\bwould (?:really |very much |also |just )?(?:like|love|prefer|rather)\\b|\\bwould rather\\b',
    '\\b(?:looking (?:for|to)|trying to|hoping (?:to|for)|here (?:to|for)|calling (?:to|about|for)|interested in|feel like)\\b',
    '\\b(?:i|we) will (?:have|take|need)\\b|^(?:it|this) is about\\b',
    '^(?:can|could|may|might) (?:i|we|you|somebody|someone|anyone|anybody|(?:the|your|my|our) [a-z]+)\\b|^(?:would|will) you\\b',
    '^(?:is|would) it (?:be )?(?:possible|okay|ok|all right)\\b|^how (?:do|can|could|may) (?:i|we)\\b',
    '^(?:is|are) there (?:a|an|any|some|someone|somebody|anyone|anybody)\\b|^(?:do|have) you (?:have|got) (?:a|an|any|anything|something)\\b',
  ].join('|'),
);
const QUESTION =
  /^(?:(?:and|so|but|or|well|okay|ok|right|yes|then) )*(?:is|are|am|was|were|do(?! (?:it|that|so|not)\b)|does|did|has|have (?:you|they|we)|had|would|should|shall|will|can|could|may)\b/;
/** Matches the reported words of another person, up to the speaker's own words. */
const REPORTED =
  /\b(?:he|she|they|somebody|someone|(?:my|the|your|our) [a-z]+) (?:(?:has|have|had|just|already|always) )*(?:said|says|told|tells|confirmed|agreed|agrees|thinks)\b(?! (?:that )?(?:i|we|me to|us to)\b).*?(?=\b(?:but|so|and i|(?:can|could|may) i)\b|[.!?\n]|$)/gm;
/** A question whatever follows, such as "have to", or "can you confirm that". */
const ASKS_ITSELF =
  /^(?:(?:and|so|but|or|well|okay|ok|right|yes|then) )*(?:who|whose|what|when|where|why(?! not$)|which|how(?! (?:do|can|could|may) (?:i|we)\b)|(?:would|do|did|should|shall|will|must|am) (?:i|we)|(?:can|could|will|would) you (?:please )?(?:confirm|promise|explain|repeat) (?:that|whether|if|wh[a-z]+|how))\b/;
/** Asks back, in the order of a statement. */
const YOU = /^(?:(?:and|so|but|or|well|okay|ok|right|yes|then) )*you\b/;
/** Begins a statement with a subject. */
const PRONOUN =
  /^(?:(?:and|so|but|well|because|since|yes|no|oh|actually) )*(?:i|we|you|he|she|it|they|there|this|that|these|those)\b/;
const SUBJECT = /^(?:the|a|an|my|our|your|his|her|their|one|some|somebody|someone|nobody|no one|everybody)\b/;
const FINITE_VERB =
  /\b(?:is|are|was|were|has|have|had|did|does|can|could|will|told|said|came|went|got|gave|left|made|took)\b|\b\p{L}{3,}ed\b/u;

const WISHED_VERB =
  /\b(?:want|need|like|love|prefer|have|wish|going|trying|hoping|calling) to (?:please )?(\p{L}+)|^(?:can|could|may) (?:i|we|you) (?:please )?(\p{L}+)|^please (\p{L}+)|^(cancel|change|check|clean|confirm|keep|move|return|show)\b/u;
/** Verbs that leave open what is to be done. */
const LIGHT_VERBS: ReadonlySet<string> = new Set(
  'mak make take tak com come speak talk connect transfer put reach call help'.split(' '),
);

/** The clauses of a text. A condition makes its whole sentence `open`. */
export function clausesWithMood(text: string): Clause[] {
  return (normalize(text).replaceAll(REPORTED, ' ').match(SENTENCE) ?? []).flatMap((sentence) => {
    const words = tokenize(sentence).join(' ');
    const isOpen = OPEN.test(words.replaceAll(POLITE, ' '));
    const clauses = sentence.split(CLAUSE_BREAK).filter((clause) => clause?.trim());
    return clauses.map((clause, index) => {
      const asks = sentence.includes('?') && index === clauses.length - 1;
      return { text: clause.trim(), mood: isOpen ? 'open' : moodOf(tokenize(clause).join(' '), asks) };
    });
  });
}

/** Returns true when a text leaves its answer open, or asks something instead of answering. */
export function givesNoAnswer(text: string): boolean {
  return clausesWithMood(text).some(({ mood }) => mood === 'open' || mood === 'question');
}

function moodOf(clause: string, asks: boolean): Mood {
  if (ASKS_ITSELF.test(clause) || (asks && YOU.test(clause))) return 'question';
  if (WISH.test(clause)) return 'wish';
  if (asks || QUESTION.test(clause)) return 'question';
  const states = PRONOUN.test(clause) || (SUBJECT.test(clause) && FINITE_VERB.test(clause));
  return states ? 'statement' : 'phrase';
}

export function isLightVerb(verb: string): boolean {
  return termsOf(verb).some(({ word }) => LIGHT_VERBS.has(word));
}

/** Returns the verb of a clause's wish; undefined when the verb leaves the deed open, as in "make an appointment". */
export function wishedVerb(clause: string): Term | undefined {
  const verb =
    WISHED_VERB.exec(clause)
      ?.slice(1)
      .find((word) => word !== undefined) ?? '';
  return isLightVerb(verb) ? undefined : termsOf(verb)[0];
}

/** Matches statements of fact, which are not wishes. */
const FACT =
  /\b(has|have|had|is|are|was|were|am|did|does|can|could|will) not\b|\b(do) not(?= (?:know|understand|see|find|have|get|remember)\b)|\bnever(?= (?:came|arrived|got|received|had)\b)/g;

/** A clause as it is where a denied fact is no refusal: "my order has not come" asks about the order. */
export function withoutDeniedFacts(clause: string): string {
  return isNegated(clause) ? clause.replaceAll(FACT, '$1$2') : clause;
}
