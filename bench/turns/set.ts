import { createRandom } from '../../test/media/support/signals.ts';
import { LANGUAGES, type Language, type Phrases } from './phraseSet.ts';
import { phrasesOf } from './phrases.ts';

/** How often each kind is spoken in each language. */
const COUNTS = {
  statement: 30,
  question: 25,
  answer: 25,
  /** A pause within a clause, or after a conjunction. */
  clause: 30,
  /** A pause after words that could have been all. */
  boundary: 12,
  /** A number in groups. */
  dictation: 30,
  /** A pause after a filler word. */
  hesitation: 28,
} as const;

/** Pauses within turns: log-normal, as in conversations, about a median of the speaker, and cut to these bounds. */
const MEDIAN_PAUSE_MS = 450;
const DEVIATION = { ofSpeakers: 0.35, ofPauses: 0.35 } as const;
const MIN_PAUSE_MS = 200;
const MAX_PAUSE_MS = 1200;
/** How often a recognizer ends a whole sentence with its sign, and how often other words before a pause. */
const PUNCTUATED = { whole: 0.7, part: 0.1 } as const;
const SEED = 20_260_101;
const HELD_OUT_SHARE = 0.1;

type Kind = keyof typeof COUNTS;

/** What is said without a pause. */
interface Segment {
  /** As a recognizer writes it. */
  readonly text: string;
  readonly pauseAfterMs: number;
}

export interface Utterance {
  readonly id: number;
  readonly language: Language;
  readonly kind: Kind;
  /** Words per minute. */
  readonly pace: number;
  readonly segments: readonly Segment[];
  /** Not seen by any tuning. */
  readonly isHeldOut: boolean;
}

type Random = () => number;
interface Part {
  readonly words: string;
  /** Whether the words up to here could be all. */
  readonly isWhole: boolean;
}

/** The whole set: the same each time. */
export function utterances(): readonly Utterance[] {
  const random = createRandom(SEED);
  return LANGUAGES.flatMap((language) =>
    Object.entries(COUNTS).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, index) => {
        const isHeldOut = index < Math.round(count * HELD_OUT_SHARE);
        return utterance(language, kind as Kind, isHeldOut, random);
      }),
    ),
  ).map((one, id) => ({ id, ...one }));
}

function utterance(
  language: Language,
  kind: Kind,
  isHeldOut: boolean,
  random: Random,
): Omit<Utterance, 'id'> {
  const phrases = phrasesOf(language, isHeldOut);
  const parts = partsOf(kind, phrases, random);
  const isQuestion = kind === 'question' || phrases.asking.some((ask) => parts[0]?.words.startsWith(ask));
  const usualMs = MEDIAN_PAUSE_MS * Math.exp(DEVIATION.ofSpeakers * normal(random));
  const segments = parts.map(({ words, isWhole }, index) => ({
    text:
      random() < (isWhole ? PUNCTUATED.whole : PUNCTUATED.part) ? words + (isQuestion ? '?' : '.') : words,
    pauseAfterMs: index === parts.length - 1 ? 0 : pauseMs(usualMs, random),
  }));
  return { language, kind, isHeldOut, pace: 150 + Math.floor(40 * random()), segments };
}

function partsOf(kind: Kind, phrases: Phrases, random: Random): readonly Part[] {
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? '';
  const { join } = phrases;
  const part = (...words: string[]): Part => ({ words: join(words), isWhole: false });
  const whole = (...words: string[]): Part => ({ words: join(words), isWhole: true });
  const [lead, action, when, reason] = [
    pick(phrases.leads),
    pick(phrases.actions),
    pick(phrases.additions),
    pick(phrases.reasons),
  ];
  switch (kind) {
    case 'statement':
      return [whole(lead, action, when)];
    case 'question':
      return [whole(pick(phrases.questions))];
    case 'answer':
      return [whole(pick(phrases.answers))];
    case 'clause':
      return random() < 0.5
        ? [part(lead), whole(action, when)]
        : [part(lead, action, pick(phrases.conjunctions)), whole(reason)];
    case 'boundary':
      return random() < 0.5
        ? [whole(lead, action), whole(when)]
        : [whole(lead, action, when), whole(pick(phrases.conjunctions), reason)];
    case 'dictation': {
      const groups = pick(phrases.groups)
        .split(' ')
        .map((digits) => phrases.digits(digits, random));
      return groups.map((digits, index) => {
        const words = index === 0 ? [pick(phrases.numbers), digits] : [digits];
        return index === groups.length - 1 ? whole(...words) : part(...words);
      });
    }
    case 'hesitation':
      return random() < 0.5
        ? [part(lead, pick(phrases.fillers)), whole(action, when)]
        : [part(pick(phrases.fillers)), part(lead, action, pick(phrases.fillers)), whole(when)];
  }
}

function pauseMs(usualMs: number, random: Random): number {
  const ms = usualMs * Math.exp(DEVIATION.ofPauses * normal(random));
  return Math.round(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ms)));
}

/** Of mean 0 and variance 1. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
