import { splitIdentifier } from './extract.ts';
import type { Message, Persona } from './request.ts';
import {
  containsPhrase,
  countSharedTerms,
  isSameTerm,
  normalizedPhrase,
  termsOf,
  tokenize,
} from './terms.ts';

/** The most facts that are read. */
const MAX_FACTS = 200;
const MAX_VALUE_CHARACTERS = 300;
const MAX_HEARD_CHARACTERS = 2_000;
/** The share of a condition's words that the caller's words must have. */
const MIN_SHARE = 0.5;
/** The same words of the agent in a row, after which it will say nothing else. */
const MAX_REPEATED = 3;

const HELLO = 'Hello?';
const UNKNOWN = 'I do not know.';
const WAITS = 'All right.';
/** Variants of one meaning, of which the seed selects. */
const WISHES = ['I would like to', 'Hello, I would like to', 'I want to'] as const;
const YES = ['Yes.', 'Yes, please.', 'Yes, that is right.'] as const;
const NO = ['No.', 'No, thank you.'] as const;
const FAREWELLS = ['Thank you, goodbye.', 'Thanks, bye.', 'That is all, thank you. Goodbye.'] as const;
const GIVES_UP = 'Never mind. Goodbye.';

/** Matches a note in parentheses, which is not spoken. */
const NOTE = /^\([^)]*\)$/;
const SENTENCE_END = /(?<=[.!?。！？])\s+|\n+/u;
const REQUEST =
  /^(?:please,? )?(?:tell|give|name|say|spell|repeat|enter|let me (?:know|have))\b|\bplease[.!]?$/i;
const MOMENT = /\b(?:moment|second|minute|wait|hold (?:on|the line)|stay on)\b/i;
const YES_OR_NO =
  /^(?:and |so |then |well )?(?:are|is|was|were|do|does|did|have|has|can|could|may|shall|should|will|would|am)\b/i;
const CONFIRMATION = /\b(?:right|correct|okay|ok|agree|confirm|fine)\b/i;
const ANYTHING_ELSE = /\b(?:anything|something|any|what) (?:else|other|more)\b/i;
const OFFER = /\bhelp\b|\bdo for you\b/i;
const FAREWELL = /\b(?:good ?bye|bye|farewell|see you|have a (?:nice|good|great) (?:day|evening|one))\b/i;
/** Question words, and the names of the facts that answer them. */
const ASKED_BY: readonly (readonly [question: RegExp, names: readonly string[]])[] = [
  [/^(?:and )?when\b/i, ['day', 'date', 'time']],
  [/^(?:and )?where\b/i, ['city', 'place', 'address', 'location']],
  [/^(?:and )?who\b/i, ['name']],
  [/\bhow (?:many|much)\b/i, ['number', 'count', 'quantity', 'amount', 'guests', 'persons', 'people']],
];
/** Matches the beginning of a goal that is a thing, not an action. */
const THING = /^(?:an?|the|some|my|one|two|three|four|five|six|seven|eight|nine|ten|another|\d+)\b/i;
const WANTS =
  /\b(?:(?:wants?|would like|needs?|wish|wishes) (?=(?:to|an?|the|some|my|your|his|her|their)\b|\d)|call(?:s|ing)? (?=to\b))/i;

/**
 * Plays a caller by rules: states the goal, answers questions from the facts, agrees to what the goal and the facts name,
 * declines what they do not, and hangs up when nothing is left to say or the conversation goes in circles.
 *
 * @param messages - The conversation, in which the user is the agent.
 * @returns The caller's next words; after the last ones {@link Persona.hangUp}.
 */
export function personaWords(persona: Persona, messages: readonly Message[]): string {
  const heard = wordsOf(messages, 'user');
  const said = wordsOf(messages, 'assistant');
  const pick = (variants: readonly string[]) =>
    variants[(persona.seed + said.length) % variants.length] ?? '';
  const last = (words: string) => `${words} ${persona.hangUp}`;
  const words = heard.at(-1) ?? '';
  const goal = goalOf(persona, WISHES[persona.seed % WISHES.length] ?? '');
  const asked = askedIn(words);
  const answer = asked && answerFrom(persona.facts ?? {}, asked);

  if (isRepeated(heard)) return last(GIVES_UP);
  if (answer !== undefined) return answer;
  if (!said.includes(goal)) return goal;
  if (words === '') return said.includes(HELLO) ? last(GIVES_UP) : HELLO;
  if (isReached(persona, words, asked)) return last(pick(FAREWELLS));
  if (asked === undefined) return said.includes(WAITS) ? last(pick(FAREWELLS)) : WAITS;
  const replies = repliesTo(asked, persona, goal);
  if (replies) return pick(replies);
  return said.includes(UNKNOWN) ? last(GIVES_UP) : UNKNOWN;
}

/** Variants of the answer to a question that no fact answers; undefined when the caller knows none. */
function repliesTo(asked: string, persona: Persona, goal: string): readonly string[] | undefined {
  if (ANYTHING_ELSE.test(asked)) return NO;
  if (OFFER.test(asked)) return [goal];
  if (!YES_OR_NO.test(asked) && !CONFIRMATION.test(asked)) return undefined;
  return isWanted(persona, asked) ? YES : NO;
}

function isRepeated(heard: readonly string[]): boolean {
  const lately = heard.slice(-MAX_REPEATED);
  return lately.length === MAX_REPEATED && lately.every((words) => words !== '' && words === lately[0]);
}

/** The end of each message, without notes. */
function wordsOf(messages: readonly Message[], role: Message['role']): string[] {
  return messages
    .filter((message) => message.role === role)
    .map(({ content }) => (content ?? '').trim().slice(-MAX_HEARD_CHARACTERS))
    .map((words) => (NOTE.test(words) ? '' : words));
}

/** The last question or request; undefined when nothing is asked. */
function askedIn(words: string): string | undefined {
  return words
    .split(SENTENCE_END)
    .findLast((sentence) => /[?？]\s*$/.test(sentence) || (REQUEST.test(sentence) && !MOMENT.test(sentence)));
}

/** The facts that a question asks for. */
function answerFrom(facts: NonNullable<Persona['facts']>, question: string): string | undefined {
  const known = Object.entries(facts)
    .slice(0, MAX_FACTS)
    .map(([name, value]) => ({ name: splitIdentifier(name), text: textOf(value) }))
    .filter(({ text }) => text !== '');
  const mentioned = known.filter(({ text }) => containsPhrase(question, text));
  if (/\bor\b/i.test(question) && mentioned[0]) return mentioned[0].text;
  const asked = known
    .filter((fact) => !mentioned.includes(fact))
    .map((fact) => ({ ...fact, ...fitOf(fact.name, question) }))
    .filter(({ share }) => share >= MIN_SHARE)
    .toSorted((one, other) => other.share - one.share);
  const answered = new Set<string>();
  const chosen = asked.filter(({ words }) => {
    const isNew = words.some((word) => !answered.has(word));
    for (const word of words) answered.add(word);
    return isNew;
  });
  const names = chosen.map(({ name }) => name);
  const texts = known.flatMap(({ name, text }) => (names.includes(name) ? [text] : []));
  return texts.length === 0 ? undefined : texts.join(', ');
}

/** The words of a question that a fact's name has, and their share of the name. */
function fitOf(
  name: string,
  question: string,
): { readonly words: readonly string[]; readonly share: number } {
  const terms = termsOf(name);
  const sought = termsOf(question);
  const words = terms.flatMap(({ word }) => (sought.some((one) => isSameTerm(one.word, word)) ? [word] : []));
  const [asking, names = []] = ASKED_BY.find(([pattern]) => pattern.test(question)) ?? [];
  if (asking && names.includes(tokenize(name).at(-1) ?? ''))
    return { words: [...words, asking.source], share: 1 };
  return { words, share: terms.length === 0 ? 0 : words.length / terms.length };
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes.' : 'No.';
  if (typeof value === 'string' || typeof value === 'number')
    return String(value).trim().slice(0, MAX_VALUE_CHARACTERS);
  if (typeof value !== 'object' || value === null) return '';
  const parts = Object.values(value).slice(0, 10).map(textOf);
  return parts
    .filter((part) => part !== '')
    .join(', ')
    .slice(0, MAX_VALUE_CHARACTERS);
}

/** Returns true when a question is about the goal, or about a value of the facts. */
function isWanted(persona: Persona, question: string): boolean {
  if (CONFIRMATION.test(question)) return true;
  const values = Object.values(persona.facts ?? {})
    .slice(0, MAX_FACTS)
    .map(textOf);
  if (values.some((value) => containsPhrase(question, value))) return true;
  return countSharedTerms(termsOf(goalOf(persona, '')), termsOf(question)) > 0;
}

function isReached({ hangUpWhen }: Persona, words: string, asked: string | undefined): boolean {
  if (asked !== undefined && !ANYTHING_ELSE.test(asked)) return false;
  if (hangUpWhen === undefined) return FAREWELL.test(words) || (asked === undefined && !MOMENT.test(words));
  const sought = termsOf(hangUpWhen);
  return FAREWELL.test(words) || countSharedTerms(sought, termsOf(words)) >= sought.length * MIN_SHARE;
}

/** The goal as the caller says it: "Book a table" becomes "I would like to book a table." */
function goalOf({ goal, prompt }: Persona, wish: string): string {
  const wanted = goal ?? prompt.split(SENTENCE_END).find((sentence) => WANTS.test(sentence));
  if (wanted === undefined) return 'Hello.';
  const plain = wanted
    .trim()
    .slice(0, MAX_VALUE_CHARACTERS)
    .replace(new RegExp(`^[^.,;]{0,60}?${WANTS.source}`, 'i'), '')
    .replace(/^to\s+/i, '')
    .replaceAll(/\b(?:your|his|her|their)\b/gi, 'my')
    .replace(/[.!?\s]+$/, '');
  if (normalizedPhrase(plain) === '') return 'Hello.';
  const words = plain.charAt(0).toLowerCase() + plain.slice(1);
  return THING.test(plain) ? `I would like ${words}, please.` : `${wish} ${words}.`.trim();
}
