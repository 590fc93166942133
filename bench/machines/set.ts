import { createRandom } from '../../test/media/support/signals.ts';
import {
  GREETINGS,
  type Greetings,
  HELD_OUT_GREETINGS,
  KINDS,
  type Kind,
  type Language,
} from './greetings.ts';

const SEED = 20_261_128;
/** In the whole set, and how many of them are held out. */
const COUNTS: Readonly<Record<Kind, readonly [number, number]>> = {
  'short hello': [40, 4],
  'long greeting': [26, 3],
  noisy: [22, 2],
  'silent, then hello': [16, 1],
  'machine with beep': [28, 3],
  'machine without beep': [18, 2],
  'Apple screening': [16, 2],
  'Google screening': [10, 1],
  'other screening': [6, 1],
  menu: [18, 1],
};
const SAID: Readonly<Record<Kind, readonly (keyof Greetings)[]>> = {
  'short hello': ['hello'],
  'long greeting': ['business'],
  noisy: ['hello', 'hello', 'business'],
  'silent, then hello': ['hello'],
  'machine with beep': ['voicemail'],
  'machine without beep': ['voicemail'],
  'Apple screening': ['apple'],
  'Google screening': ['google'],
  'other screening': ['screener'],
  menu: ['menu'],
};
/** English is spoken in half of the calls. */
const ENGLISH_SHARE = 0.5;
const PAUSE_MS = [300, 900] as const;
const FIRST_MS = [200, 900] as const;
const SILENT_MS = [2500, 6000] as const;
const BEEP_AFTER_MS = [300, 1500] as const;
const BEEP_MS = [200, 600] as const;
const BEEP_HZ = [440, 800, 1000, 1400] as const;
const PACES = [140, 160, 180] as const;
const ENGLISH_VOICES = ['rms', 'slt', 'awb', 'kal16'] as const;
/** Of the noise on a noisy line; other lines have that of a quiet network. */
const NOISY_SNR_DB = [8, 12, 16] as const;
const QUIET_SNR_DB = [30, 40] as const;

interface Segment {
  readonly text: string;
  /** What the voice is given. */
  readonly reading: string;
  readonly pauseAfterMs: number;
}

export interface AnsweredCall {
  readonly id: number;
  readonly kind: Kind;
  readonly expected: (typeof KINDS)[Kind];
  readonly language: Language;
  /** Of flite in English. */
  readonly voice: (typeof ENGLISH_VOICES)[number];
  /** Words per minute. */
  readonly pace: number;
  readonly firstMs: number;
  readonly segments: readonly Segment[];
  /** After the words; undefined for none. Apple's service has a tone too. */
  readonly beep: { readonly afterMs: number; readonly hz: number; readonly ms: number } | undefined;
  readonly noise: { readonly kind: 'hiss' | 'hum'; readonly snrDb: number };
  /** Not seen by any tuning. */
  readonly isHeldOut: boolean;
}

type Random = () => number;

/** The whole set: the same each time. */
export function answeredCalls(): readonly AnsweredCall[] {
  const random = createRandom(SEED);
  return Object.entries(COUNTS)
    .flatMap(([kind, [count, heldOut]]) =>
      Array.from({ length: count }, (_, index) => answeredCall(kind as Kind, index < heldOut, random)),
    )
    .map((call, id) => ({ id, ...call }));
}

function answeredCall(kind: Kind, isHeldOut: boolean, random: Random): Omit<AnsweredCall, 'id'> {
  const among = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const within = ([low, high]: readonly [number, number]) => Math.round(low + random() * (high - low));
  const greetings = (isHeldOut ? HELD_OUT_GREETINGS : GREETINGS)[among(SAID[kind])];
  const others = Object.keys(greetings).filter((one) => one !== 'en') as Language[];
  const language = random() < ENGLISH_SHARE || others.length === 0 ? 'en' : among(others);
  const [text = '', reading = text] = among(greetings[language] ?? []).split('=');
  const readings = reading.split(' / ');
  const hasTone = kind === 'machine with beep' || (kind === 'Apple screening' && random() < 0.5);
  return {
    ...{ kind, expected: KINDS[kind], language, isHeldOut },
    voice: among(ENGLISH_VOICES),
    pace: among(PACES),
    firstMs: within(kind === 'silent, then hello' ? SILENT_MS : FIRST_MS),
    segments: text.split(' / ').map((words, index) => ({
      text: words,
      reading: readings[index] ?? words,
      pauseAfterMs: within(PAUSE_MS),
    })),
    beep: hasTone ? { afterMs: within(BEEP_AFTER_MS), hz: among(BEEP_HZ), ms: within(BEEP_MS) } : undefined,
    noise: { kind: among(['hiss', 'hum']), snrDb: among(kind === 'noisy' ? NOISY_SNR_DB : QUIET_SNR_DB) },
  };
}
