import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFlite, FLITE_RATE_HZ, partsOf } from '../../../src/providers/local/flite.ts';
import type { TextToSpeech } from '../../../src/providers/ports/textToSpeech.ts';
import { collect } from '../../support/collect.ts';
import { watchLeaks } from '../../support/leaks.ts';

const forever = new AbortController().signal;
let flite: TextToSpeech;
let assertNoLeaks: () => Promise<void>;

beforeAll(() => {
  assertNoLeaks = watchLeaks();
  flite = createFlite({ threads: 1 });
});
afterAll(async () => {
  await flite.close();
  await assertNoLeaks();
});

const secondsOf = (chunks: readonly Int16Array[]) =>
  chunks.reduce((sum, { length }) => sum + length, 0) / FLITE_RATE_HZ;

test('speaks a sentence at 16 kHz, loud enough and as long as it should be', async () => {
  const chunks = await collect(flite.synthesize({ text: 'Good afternoon, how can I help you?' }, forever));
  expect(secondsOf(chunks)).toBeGreaterThan(1);
  expect(secondsOf(chunks)).toBeLessThan(4);
  expect(Math.max(...chunks.flatMap((chunk) => [...chunk]))).toBeGreaterThan(3000);
});

test('speaks dozens of texts one after the other without running out of anything', async () => {
  for (let n = 1; n <= 30; n++) {
    const chunks = await collect(flite.synthesize({ text: `Number ${n}.` }, forever));
    expect(secondsOf(chunks)).toBeGreaterThan(0.3);
  }
});

test('a long text comes in parts, so that the first does not wait for the last', async () => {
  const sentence = 'This is one of the many sentences that make this answer a long one, longer than most.';
  const chunks = await collect(flite.synthesize({ text: Array(6).fill(sentence).join(' ') }, forever));
  expect(chunks.length).toBeGreaterThan(2);
});

test('an abort ends the wait at once, and the next text is spoken all the same', async () => {
  const controller = new AbortController();
  const pending = collect(flite.synthesize({ text: 'Nobody will hear this.' }, controller.signal));
  controller.abort(new Error('cut in'));
  await expect(pending).rejects.toThrow('cut in');
  expect(secondsOf(await collect(flite.synthesize({ text: 'Yes.' }, forever)))).toBeGreaterThan(0.2);
});

test('an unknown voice is an error that is told', async () => {
  const spoken = collect(flite.synthesize({ text: 'Hello.', voice: 'no-such-voice' }, forever));
  await expect(spoken).rejects.toMatchObject({ code: 'model_unavailable', beforeFirstToken: true });
});

test.each([
  ['', []],
  ['…!', []],
  ['One. Two.', ['One. Two.']],
  [`${'word '.repeat(40).trim()}. Next.`, [`${'word '.repeat(40).trim()}. Next.`]],
  [`${'word '.repeat(60).trim()}. Next.`, [`${'word '.repeat(60).trim()}.`, 'Next.']],
])('%j is spoken in parts %j', (text, parts) => {
  expect(partsOf(text)).toEqual(parts);
});
