import { sleep } from '../../../src/base/async/sleep.ts';
import type { Clock } from '../../../src/base/values/clock.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { SpeechToText } from '../../../src/models/ports/speechToText.ts';
import type { TextToSpeech } from '../../../src/models/ports/textToSpeech.ts';

const RATE_HZ = 8000;
const FRAME_SAMPLES = 160;
/** The simulated call's detector takes this for speech. */
const CALLER_LEVEL = 1000;
const AGENT_LEVEL = 2000;
/** More than 1, so that a fade at a stop passes few levels of other words. */
const AGENT_STEP = 3;
/** The usual pace of voices, the space after a word included. */
const CHARACTER_SAMPLES = Math.round(RATE_HZ / 15);
const PIECE_SAMPLES = 800;
/** Synthesis is about five times as fast as playout. */
const PIECE_MS = 20;
const HALF_WAVE_SAMPLES = 56;
const LATE_MS = 1500;

/** How a component is broken; undefined while it works. */
export type Fault = 'fails' | 'hangs' | 'is late' | 'is empty' | undefined;

/** A word in a recording, and which share of it. */
export interface HeardWord {
  readonly word: string;
  readonly share: number;
  /** From the start of the recording. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Encodes each word of a caller in a level of its own, and is a recognizer that finds the words it heard most of. */
export interface WordCaller extends SpeechToText {
  say(text: string, durationMs: number): Int16Array;
  /** The words in the caller's samples, in order. */
  wordsIn(samples: Int16Array): HeardWord[];
}

interface Heard {
  samples: number;
  from: number;
  to: number;
}

const msOf = (samples: number) => (samples * 1000) / RATE_HZ;

export function createWordCaller(clock: Clock, faultNow: () => Fault): WordCaller {
  const spoken: { readonly word: string; readonly samples: number }[] = [];
  const wordsOf = (heard: ReadonlyMap<number, Heard>): HeardWord[] =>
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
            throw new ModelError('model_unavailable', 'down', { beforeFirstToken: true });
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

/** A voice with a level for each word, so that a recording shows which words were heard. */
export interface WordVoice extends TextToSpeech {
  /** The same voice without faults. */
  readonly reliable: TextToSpeech;
  /** The words in the agent's samples, in order. */
  wordsIn(samples: Int16Array): HeardWord[];
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
    reliable: voiceBy('reliable', () => undefined),
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
  throw new ModelError('model_unavailable', 'down', { beforeFirstToken: isFirst });
}

function lengthOf(word: string): number {
  return (word.length + 1) * CHARACTER_SAMPLES;
}

/** Does not correlate with the caller's constant samples, which are thus not taken for an echo. */
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
