import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { SpokenVoice, TextToSpeech } from '../../../src/models/ports/textToSpeech.ts';
import { createLocalTextToSpeech, FLITE_SAMPLE_RATE_HZ } from '../../../src/vendors/local/textToSpeech.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import { detectLeaks } from '../../support/leaks.ts';

const forever = new AbortController().signal;
let speech: TextToSpeech;
let assertNoLeaks: () => Promise<void>;

beforeAll(() => {
  assertNoLeaks = detectLeaks();
  speech = createLocalTextToSpeech({ threads: 1 });
});
afterAll(async () => {
  await speech.close();
  await assertNoLeaks();
});

const secondsOf = (chunks: readonly Int16Array[]) =>
  chunks.reduce((sum, { length }) => sum + length, 0) / FLITE_SAMPLE_RATE_HZ;

test('Offline synthesis makes a sentence of plausible length and level at 16 kHz', async () => {
  const chunks = await arrayFromAsync(
    speech.synthesize({ text: 'Good afternoon, how can I help you?' }, forever),
  );
  expect(secondsOf(chunks)).toBeGreaterThan(1);
  expect(secondsOf(chunks)).toBeLessThan(4);
  expect(Math.max(...chunks.flatMap((chunk) => [...chunk]))).toBeGreaterThan(3000);
});

test('Offline synthesis speaks in either voice and at any pace, and refuses a voice that it does not have', async () => {
  const text = 'Good afternoon, how can I help you?';
  const seconds = async (voice: SpokenVoice) =>
    secondsOf(await arrayFromAsync(speech.synthesize({ text, ...voice }, forever)));
  const usual = await seconds({});
  expect(await seconds({ speed: 2 })).toBeLessThan(usual * 0.7);
  expect(await seconds({ speed: 0.5 })).toBeGreaterThan(usual * 1.5);
  expect(await seconds({ voice: 'slt' })).not.toBe(usual);
  await expect(seconds({ voice: 'mia' })).rejects.toMatchObject({ code: 'model_rejected' });
});

test('Offline synthesis makes dozens of texts one after the other', async () => {
  for (let n = 1; n <= 30; n++) {
    const chunks = await arrayFromAsync(speech.synthesize({ text: `Number ${n}.` }, forever));
    expect(secondsOf(chunks)).toBeGreaterThan(0.3);
  }
});

test('Offline synthesis yields a long text in parts', async () => {
  const sentence = 'This is one of the many sentences that make this answer a long one, longer than most.';
  const chunks = await arrayFromAsync(
    speech.synthesize({ text: Array(6).fill(sentence).join(' ') }, forever),
  );
  expect(chunks.length).toBeGreaterThan(2);
});

test('Offline synthesis rejects at once when aborted, and the next text works', async () => {
  const controller = new AbortController();
  const pending = arrayFromAsync(speech.synthesize({ text: 'This is never heard.' }, controller.signal));
  controller.abort(new Error('interrupted'));
  await expect(pending).rejects.toThrow('interrupted');
  expect(secondsOf(await arrayFromAsync(speech.synthesize({ text: 'Yes.' }, forever)))).toBeGreaterThan(0.2);
});

test('Offline synthesis fails with model_unavailable for an unknown voice', async () => {
  const other = createLocalTextToSpeech({ threads: 1, voice: 'no-such-voice' });
  onTestFinished(() => other.close());
  const spoken = arrayFromAsync(other.synthesize({ text: 'Hello.' }, forever));
  await expect(spoken).rejects.toMatchObject({ code: 'model_unavailable', beforeFirstToken: true });
});
