import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { TextToSpeech } from '../../../src/models/ports/textToSpeech.ts';
import {
  createSpeechCache,
  SpeechSynthesis,
  type SpeechSynthesisDeps,
  withoutLeadingSilence,
} from '../../../src/voice/speech/speechSynthesis.ts';
import { candidate } from '../../models/support/candidate.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedVoice } from '../support/scriptedSpeech.ts';

const SIGNAL = new AbortController().signal;

function synthesisOf(
  textToSpeech: TextToSpeech,
  more: Partial<SpeechSynthesisDeps> & { readonly fallbacks?: readonly TextToSpeech[] } = {},
) {
  const cache = createSpeechCache();
  const { fallbacks = [], ...own } = more;
  const voices = [textToSpeech, ...fallbacks].map((model, index) => ({
    ...candidate(model),
    breaker: String(index),
  }));
  const deps = { voices, cache, clock: systemClock, onFailure: () => undefined, ...own };
  const synthesis = new SpeechSynthesis(deps, 8000);
  const speak = async (text: string, language?: string) => {
    const pieces: Int16Array[] = [];
    const request = language === undefined ? { text } : { text, language };
    await synthesis.speak(request, SIGNAL, (samples) => pieces.push(samples));
    return pieces;
  };
  return { speak, cache };
}

/** Rejects when the signal is aborted. */
const hang = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('Speech is resampled to the stream’s rate, and cached by text and language', async () => {
  const voice = scriptedVoice(24_000 as 8000);
  const { speak } = synthesisOf(voice);
  const first = await speak('One two.');
  const length = first.reduce((sum, samples) => sum + samples.length, 0);
  // 600 ms, and 5 ms that flush the resampler.
  expect(length).toBe(8 * 605);
  expect(Math.abs(first[1]?.[420] ?? 0)).toBeCloseTo(5000, -2);
  const second = await speak('One two.');
  expect([second.length, second[0]?.length, voice.texts.length]).toEqual([1, length, 1]);
  await speak('One two.', 'other');
  expect(voice.texts.length).toBe(2);
});

test('Speech that breaks off is neither cached nor retried', async () => {
  const voice = scriptedVoice();
  const breaking: TextToSpeech = {
    ...voice,
    async *synthesize(request, signal) {
      for await (const samples of voice.synthesize(request, signal)) {
        yield samples;
        throw new Error('broke off');
      }
    },
  };
  const { speak, cache } = synthesisOf(breaking);
  await expect(speak('One two.')).rejects.toThrow('broke off');
  expect([voice.texts.length, cache.size]).toEqual([1, 0]);
});

test('A stream whose rate speech cannot be resampled to is refused', () => {
  const deps = {
    voices: [candidate(scriptedVoice())],
    cache: createSpeechCache(),
    clock: systemClock,
    onFailure: () => undefined,
  };
  expect(() => new SpeechSynthesis(deps, 11_025)).toThrow(/11025/);
});

test.each([
  ['the only one', 0],
  ['the last one', 4000],
])('A vendor that is %s has 8 s for its first sound', async (_which, afterMs) => {
  const clock = createSimulatedClock();
  const voice = scriptedVoice();
  const hanging: TextToSpeech = {
    ...voice,
    async *synthesize(request, signal) {
      await hang(signal);
      yield* voice.synthesize(request, signal);
    },
  };
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const { speak } = synthesisOf(hanging, {
    fallbacks: afterMs > 0 ? [{ ...hanging }] : [],
    clock,
    onFailure,
  });
  const settled: unknown[] = [];
  void speak('One.').catch((error: unknown) => settled.push(error));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  clock.advance(afterMs);
  await turn();
  const before = failures.length;
  clock.advance(7999);
  await turn();
  expect([failures.length, settled.length]).toEqual([before, 0]);
  clock.advance(1);
  await turn();
  expect(failures.length + settled.length).toBe(before + 1);
});

test('Inaudible speech is a failure: the fallback speaks, and it is not cached', async () => {
  const [faint, fallback] = [scriptedVoice(8000, 20), scriptedVoice(8000, 7000)];
  const alone = synthesisOf(faint);
  await expect(alone.speak('One.')).rejects.toThrow('returned silence');
  expect(alone.cache.size).toBe(0);
  const heard = await synthesisOf(faint, { fallbacks: [fallback] }).speak('One.');
  expect([fallback.texts, heard.at(-1)?.[0]]).toEqual([['One.'], 7000]);
});

test('A vendor that stops in the middle of a text fails after 4 s', async () => {
  const clock = createSimulatedClock();
  const voice = scriptedVoice();
  const stopping: TextToSpeech = {
    ...voice,
    async *synthesize(request, signal) {
      for await (const samples of voice.synthesize(request, signal)) {
        yield samples;
        await hang(signal);
      }
    },
  };
  const { speak } = synthesisOf(stopping, { clock });
  const spoken = speak('One two.');
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(3999);
  expect(clock.pendingTimers()).toBe(1);
  clock.advance(1);
  await expect(spoken).rejects.toThrow('stopped in the middle');
  expect(clock.pendingTimers()).toBe(0);
});

const quiet = (length: number) => Array(length).fill(30);

test.each([
  ['one second of silence', [...quiet(8000), 900, 30, 900], 160 + 3],
  ['10 ms of silence', [...quiet(80), -900, 900], 82],
  ['no silence', [900, 30], 2],
  ['nothing but silence', quiet(400), 0],
  ['no samples', [], 0],
])('Leading silence is trimmed to 20 ms: %s', (_, samples, length) => {
  const left = withoutLeadingSilence(Int16Array.from(samples), 8000);
  expect([...left]).toEqual(samples.slice(samples.length - length));
});
