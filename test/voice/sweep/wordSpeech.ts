import type { Clock } from '../../../src/base/clock.ts';
import { sleep } from '../../../src/base/sleep.ts';
import { ModelError } from '../../../src/providers/ports/modelError.ts';
import type { SpeechToText } from '../../../src/providers/ports/speechToText.ts';
import type { TextToSpeech } from '../../../src/providers/ports/textToSpeech.ts';

const RATE_HZ = 8000;
const FRAME_SAMPLES = 160;
/** The detector of the simulated call takes this for speech. */
const CALLER_LEVEL = 1000;
const AGENT_LEVEL = 2000;
/** Apart by more than one, so that a fade at a stop is none of them for long. */
const AGENT_STEP = 3;
/** As fast as voices are taken to speak, the space after a word included. */
const CHARACTER_SAMPLES = Math.round(RATE_HZ / 15);
const PIECE_SAMPLES = 800;
/** Speech is made about five times as fast as it sounds. */
const PIECE_MS = 20;
const HALF_WAVE_SAMPLES = 56;
const LATE_MS = 1500;

/** How a recogniser or a speaker goes wrong at this moment; undefined where it does not. */
export type Fault = 'fails' | 'hangs' | 'is late' | 'is empty' | undefined;

/** A word that sounded, and how much of it. */
export interface SoundedWord {
  readonly word: string;
  readonly share: number;
  /** From the beginning of the recording. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** A caller each of whose words has a loudness of its own, and a recogniser that hears those of which most was said. */
export interface WordCaller extends SpeechToText {
  say(text: string, durationMs: number): Int16Array;
  /** The words in what a caller said, in their order. */
  wordsIn(samples: Int16Array): SoundedWord[];
}

interface Heard {
  samples: number;
  from: number;
  to: number;
}

const msOf = (samples: number) => (samples * 1000) / RATE_HZ;

export function createWordCaller(clock: Clock, faultNow: () => Fault): WordCaller {
  const spoken: { readonly word: string; readonly samples: number }[] = [];
  const wordsOf = (heard: ReadonlyMap<number, Heard>): SoundedWord[] =>
    [...heard].map(([index, { samples, from, to }]) => {
      const { word, samples: all } = spoken[index] ?? { word: '', samples: 1 };
      return { word, share: samples / all, fromMs: msOf(from), toMs: msOf(to) };
    });
  const count = (heard: Map<number, Heard>, samples: Int16Array) => {
    for (const [at, sample] of samples.entries()) {
      const index = sample - CALLER_LEVEL;
      const before = heard.get(index);
      if (before) {
        before.samples += 1;
        before.to = at + 1;
      } else if (index >= 0) heard.set(index, { samples: 1, from: at, to: at + 1 });
    }
  };
  return {
    name: 'words',
    say(text, durationMs) {
      const words = text.split(' ');
      const frames = Math.max(1, Math.floor(durationMs / 20 / words.length));
      const samples = frames * FRAME_SAMPLES;
      const all = new Int16Array(samples * words.length);
      for (const [at, word] of words.entries()) {
        all.fill(CALLER_LEVEL + spoken.length, at * samples, (at + 1) * samples);
        spoken.push({ word, samples });
      }
      return all;
    },
    wordsIn(samples) {
      const heard = new Map<number, Heard>();
      count(heard, samples);
      return wordsOf(heard);
    },
    openStream() {
      const heard = new Map<number, Heard>();
      return {
        push: (samples) => count(heard, samples),
        async finalize(signal) {
          const text = wordsOf(heard)
            .filter(({ share }) => share > 0.5)
            .map(({ word }) => word)
            .join(' ');
          const fault = faultNow();
          if (fault === 'hangs') await aborted(signal);
          if (fault === 'is late') await sleep(clock, LATE_MS, signal);
          if (fault === 'fails')
            throw new ModelError('model_unavailable', 'away', { beforeFirstToken: true });
          await Promise.resolve();
          signal.throwIfAborted();
          return { text: fault === 'is empty' ? '' : text };
        },
        close: () => undefined,
      };
    },
    close: async () => undefined,
  };
}

/** A speaker each of whose words has a loudness of its own, so that what sounded can be read off a recording. */
export interface WordVoice extends TextToSpeech {
  /** Another one with the same words, that nothing goes wrong with. */
  readonly standIn: TextToSpeech;
  /** The words in what an agent said, in their order. */
  wordsIn(samples: Int16Array): SoundedWord[];
}

export function createWordVoice(clock: Clock, faultNow: () => Fault): WordVoice {
  const levels = new Map<string, number>();
  const words: string[] = [];
  const levelOf = (text: string, at: number, word: string) => {
    const key = `${at} ${text}`;
    const known = levels.get(key);
    if (known !== undefined) return known;
    const level = AGENT_LEVEL + AGENT_STEP * words.length;
    levels.set(key, level);
    words.push(word);
    return level;
  };
  const speakBy = (fault: () => Fault): TextToSpeech['synthesize'] =>
    async function* ({ text }, signal) {
      for (const [at, word] of text.split(/\s+/).entries()) {
        const wave = square(levelOf(text, at, word), lengthOf(word));
        for (let from = 0; from < wave.length; from += PIECE_SAMPLES) {
          await makePiece(clock, fault, at + from === 0, signal);
          yield wave.slice(from, from + PIECE_SAMPLES);
        }
      }
    };
  const voiceBy = (name: string, fault: () => Fault): TextToSpeech => ({
    name,
    sampleRateHz: RATE_HZ,
    isCacheable: false,
    synthesize: speakBy(fault),
    close: async () => undefined,
  });
  return {
    ...voiceBy('words', faultNow),
    standIn: voiceBy('stand-in', () => undefined),
    wordsIn(samples) {
      const heard: { word: string; level: number; samples: number; from: number; to: number }[] = [];
      for (const [at, sample] of samples.entries()) {
        const level = Math.abs(sample);
        const word = words[(level - AGENT_LEVEL) / AGENT_STEP];
        if (word === undefined) continue;
        const last = heard.at(-1);
        if (last?.level === level && last.samples < lengthOf(word)) {
          last.samples += 1;
          last.to = at + 1;
        } else heard.push({ word, level, samples: 1, from: at, to: at + 1 });
      }
      return heard.map(({ word, samples: sounded, from, to }) => ({
        word,
        share: sounded / lengthOf(word),
        fromMs: msOf(from),
        toMs: msOf(to),
      }));
    },
  };
}

async function makePiece(
  clock: Clock,
  faultNow: () => Fault,
  isFirst: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (faultNow() === 'hangs') await aborted(signal);
  await sleep(clock, faultNow() === 'is late' ? LATE_MS : PIECE_MS, signal);
  if (faultNow() !== 'fails') return;
  throw new ModelError('model_unavailable', 'away', { beforeFirstToken: isFirst });
}

function lengthOf(word: string): number {
  return (word.length + 1) * CHARACTER_SAMPLES;
}

/** A wave that a caller's level samples have nothing of, so that nobody takes them for its echo. */
function square(level: number, lengthSamples: number): Int16Array {
  return new Int16Array(lengthSamples).map((_, at) =>
    Math.floor(at / HALF_WAVE_SAMPLES) % 2 === 0 ? level : -level,
  );
}

/** @throws The signal's reason, once there is one. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
