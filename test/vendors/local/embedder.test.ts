import { afterAll, beforeAll, expect, test } from 'vitest';

import { createLocalEmbedder, type LocalEmbedder } from '../../../src/vendors/local/embedder.ts';
import { detectLeaks } from '../../support/leaks.ts';

const forever = new AbortController().signal;
let embedder: LocalEmbedder;
let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
  embedder = createLocalEmbedder();
});
afterAll(async () => {
  await embedder.close();
  await assertNoLeaks();
});

const cosine = (a: Float32Array = new Float32Array(), b: Float32Array = new Float32Array()) =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0) / (Math.hypot(...a) * Math.hypot(...b));

test('Local embedder returns vectors in order, similar texts closer', async () => {
  const texts = [
    'How long is the guarantee?',
    'The warranty lasts three years.',
    'Bananas are yellow.',
    ...Array.from({ length: 20 }, (_, index) => `Sentence number ${index}.`),
  ];
  const vectors = await embedder.embed(texts, forever);
  expect(vectors.map(({ length }) => length)).toEqual(texts.map(() => 512));
  expect(cosine(vectors[0], vectors[1])).toBeGreaterThan(cosine(vectors[0], vectors[2]) + 0.1);
  const [again] = await embedder.embed(['Sentence number 19.'], forever);
  expect(cosine(again, vectors.at(-1))).toBeCloseTo(1, 4);
});

test('Local embedder does not block the main thread', async () => {
  await embedder.embed(['warm'], forever);
  let longestMs = 0;
  let lastMs = performance.now();
  const ticker = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 5);
  const startedMs = performance.now();
  await embedder.embed(
    Array.from({ length: 64 }, (_, index) => `A sentence of some words, ${index}.`),
    forever,
  );
  const tookMs = performance.now() - startedMs;
  clearInterval(ticker);
  expect(longestMs).toBeLessThan(tookMs / 2);
});

test('Local embedder rejects pending and later requests once closed', async () => {
  const other = createLocalEmbedder();
  const waiting = other.embed(['a'], forever).catch((error: unknown) => error);
  await other.close();
  await other.close();
  expect(await waiting).toMatchObject({ code: 'model_unavailable' });
  await expect(other.embed(['a'], forever)).rejects.toMatchObject({ code: 'model_unavailable' });
});
