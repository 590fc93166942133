import { expect, test } from 'vitest';

import { type IngestDeps, ingest } from '../../../src/knowledge/ingest/ingest.ts';
import type { ChunkStore, DatasetStore, IngestionTask } from '../../../src/knowledge/stores.ts';
import { OPENAI_EMBEDDING_MODELS } from '../../../src/models/ports/embedder.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const ENCODER = OPENAI_EMBEDDING_MODELS['text-embedding-3-small'];
const VECTOR = new Float32Array(ENCODER.dimensions);
const BATCH_SIZE = 3;
/** Four parallel requests per round. */
const PAGE = 4 * BATCH_SIZE;

/** A parsed document, some of whose chunks have a vector. */
function parsedDocument(
  length: number,
  isEmbedded: (position: number) => boolean = () => false,
  { batchSize = BATCH_SIZE, keepMs = 0 } = {},
) {
  const clock = createSimulatedClock();
  const vectors = new Set(Array.from({ length }, (_, position) => position).filter(isEmbedded));
  const looked: number[] = [];
  const embedded: string[] = [];
  const batches: number[] = [];
  let status = 'processing';
  const task = { datasetId: 'd', encoder: ENCODER.name, attempts: 1, isParsed: true };
  let failingSince: Date | null = null;
  const failures: { reason: string }[] = [];
  let attempts = 0;
  const datasets: Pick<DatasetStore, 'startIngestion' | 'undoAttempt' | 'postpone' | 'finish' | 'fail'> = {
    async startIngestion() {
      attempts += 1;
      return { ...task, failingSince } as IngestionTask;
    },
    async undoAttempt() {
      attempts -= 1;
    },
    async postpone(_, failure) {
      failingSince = new Date(failure.failingSince);
      failures.push(failure);
    },
    async finish() {
      status = 'ready';
    },
    async fail(_, reason) {
      status = 'failed';
      failures.push({ reason });
    },
  };
  const chunks: Pick<ChunkStore, 'listWithoutVector' | 'storeVectors'> = {
    async listWithoutVector(_, { offset, limit }) {
      looked.push(offset);
      const page = Array.from(
        { length: Math.max(0, Math.min(limit, length - offset)) },
        (_, index) => offset + index,
      );
      const missing = page.filter((position) => !vectors.has(position));
      return {
        missing: missing.map((position) => ({ id: String(position), content: `text ${position}` })),
        pageLength: page.length,
      };
    },
    async storeVectors(_, made) {
      for (const { chunkId } of made) vectors.add(Number(chunkId));
      clock.advance(keepMs * made.length);
      return true;
    },
  };
  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
    embedded.push(...texts);
    batches.push(texts.length);
    return texts.map(() => VECTOR);
  };
  const run = async (embedWith = embed) =>
    await ingest(
      {
        datasets,
        chunks,
        clock,
        findEmbedder: () => ({ model: ENCODER, batchSize, embed: embedWith }),
        onError: () => undefined,
      } as unknown as IngestDeps,
      'd',
      new AbortController().signal,
    );
  return {
    run,
    clock,
    failures,
    embed,
    looked,
    embedded,
    batches,
    vectors,
    status: () => status,
    attempts: () => attempts,
  };
}

test.each([
  [1, [0]],
  [PAGE - 1, [0]],
  [PAGE, [0, PAGE]],
  [2 * PAGE + 1, [0, PAGE, 2 * PAGE]],
])('a document of %i chunks is gone through once', async (length, pages) => {
  const document = parsedDocument(length);
  await document.run();
  expect(document.looked).toEqual(pages);
  expect(document.embedded).toHaveLength(length);
  expect(new Set(document.embedded).size).toBe(length);
  expect(document.status()).toBe('ready');
});

test('Ingestion that resumes embeds only chunks without a vector', async () => {
  const missing = [2, 14, 39];
  const document = parsedDocument(40, (position) => !missing.includes(position));
  await document.run();
  expect(document.embedded).toEqual(missing.map((position) => `text ${position}`));
  expect(document.status()).toBe('ready');
});

test('A document that takes long to embed leaves its place to others every 15 s, and is no failed attempt', async () => {
  const document = parsedDocument(40, undefined, { keepMs: 500 });
  expect(await document.run()).toEqual({ afterMs: 0 });
  expect(document.embedded).toHaveLength(36);
  expect(document.attempts()).toBe(0);
  expect(await document.run()).toBeUndefined();
  expect(new Set(document.embedded).size).toBe(40);
  expect(document.embedded).toHaveLength(40);
  expect(document.status()).toBe('ready');
});

test('Ingestion does not embed stored vectors again after a failed batch', async () => {
  const document = parsedDocument(30);
  let failures = 1;
  const embed = async (texts: readonly string[]) => {
    if (texts.includes('text 4') && failures-- > 0) throw new Error('away');
    return await document.embed(texts);
  };
  expect(await document.run(embed)).toEqual({ afterMs: 2_000 });
  expect(document.status()).toBe('processing');
  await document.run(embed);
  expect(document.embedded.toSorted()).toEqual(
    Array.from({ length: 30 }, (_, index) => `text ${index}`).toSorted(),
  );
  expect(document.status()).toBe('ready');
});

test('Ingestion fails when the embedder returns too few vectors', async () => {
  const document = parsedDocument(5);
  const retry = await document.run(async (texts) => texts.slice(1).map(() => VECTOR));
  expect(retry).toEqual({ afterMs: 2_000 });
  expect(document.status()).toBe('processing');
});

test.each([
  ['refuses connections', 0],
  ['answers nothing, for two minutes an attempt', 121_000],
])('a document whose endpoint %s says why, and fails within 15 minutes', async (_, attemptMs) => {
  const document = parsedDocument(5);
  const startedMs = document.clock.now();
  const fail = async () => {
    document.clock.advance(attemptMs);
    throw new ModelError('model_unavailable', 'The endpoint is down');
  };
  for (let retry = await document.run(fail); retry; retry = await document.run(fail)) {
    const { reason } = document.failures.at(-1) ?? {};
    expect(reason).toBe('The chunks could not be embedded: The endpoint is down');
    document.clock.advance(retry.afterMs);
  }
  expect(document.status()).toBe('failed');
  expect(document.failures.at(-1)?.reason).toBe('The chunks could not be embedded: The endpoint is down');
  const tookMs = document.clock.now() - startedMs;
  expect(tookMs).toBeGreaterThan(9 * 60_000);
  expect(tookMs).toBeLessThan(15 * 60_000);
});

test('Progress between failures starts the time until giving up anew', async () => {
  const document = parsedDocument(30);
  let texts = 0;
  // An hour: one batch is embedded in each attempt.
  for (let attempt = 0; attempt < 30 && document.status() === 'processing'; attempt += 1) {
    texts = 0;
    await document.run(async (batch) => {
      if (texts++ > 0) throw new ModelError('model_unavailable', 'The endpoint is down');
      return await document.embed(batch);
    });
    document.clock.advance(6 * 60_000);
  }
  expect(document.status()).toBe('ready');
});

test.each([
  ['at once, full batches', 0, [16, 128, 128, 128, 112, 128, 128, 128, 104]],
  [
    '30 ms each, what is kept within two seconds',
    30,
    // Each turn begins with a few.
    [16, ...Array<number>(7).fill(66), 34, 16, ...Array<number>(7).fill(66), 10],
  ],
  ['very long, a few', 1_000, Array<number>(62).fill(16)],
])('where keeping a vector takes %s are asked for', async (_, keepMs, batches) => {
  const document = parsedDocument(
    batches.reduce((sum, one) => sum + one, 0),
    () => false,
    { batchSize: 128, keepMs },
  );
  while (document.status() === 'processing') await document.run();
  expect(document.batches).toEqual(batches);
  expect(document.status()).toBe('ready');
});

test.each([
  ['its process ended twice before', 3, 'failed', 'Reading the file was interrupted too often'],
  ['the node stops', 1, 'processing', undefined],
])('a document that is not parsed: %s', async (_, attempts, status, reason) => {
  const stop = new AbortController();
  const seen = { status: 'processing', reason: undefined as string | undefined, undone: 0 };
  const run = ingest(
    {
      datasets: {
        startIngestion: async () => ({ datasetId: 'd', mimeType: 'text/plain', attempts, isParsed: false }),
        exists: async () => true,
        undoAttempt: async () => void Object.assign(seen, { undone: 1 }),
        fail: async (_id: string, why: string) => void Object.assign(seen, { status: 'failed', reason: why }),
      },
      chunks: { clear: async () => undefined },
      files: { checkOut: async () => ({ path: 'x', release: async () => undefined }) },
      parser: {
        parse: async () => {
          stop.abort(new Error('the service is stopping'));
          throw stop.signal.reason;
        },
      },
      clock: createSimulatedClock(),
      onError: () => undefined,
    } as unknown as IngestDeps,
    'd',
    stop.signal,
  );
  if (status === 'failed') await run;
  else await expect(run).rejects.toThrow('stopping');
  expect(seen).toEqual({ status, reason, undone: status === 'failed' ? 0 : 1 });
});

test('A stop does not wait for a silent store of files', async () => {
  const stop = new AbortController();
  const task = { datasetId: 'd', mimeType: 'text/plain', attempts: 1, isParsed: false };
  const run = ingest(
    {
      datasets: { startIngestion: async () => task, undoAttempt: async () => undefined },
      files: {
        checkOut() {
          stop.abort(new Error('the service is stopping'));
          return new Promise(() => undefined);
        },
      },
      clock: createSimulatedClock(),
    } as unknown as IngestDeps,
    'd',
    stop.signal,
  );
  await expect(run).rejects.toThrow('stopping');
});

test('The removal of a document stops its parse', async () => {
  const clock = createSimulatedClock();
  const seen: string[] = [];
  const run = ingest(
    {
      datasets: {
        startIngestion: async () => ({
          datasetId: 'd',
          mimeType: 'text/plain',
          attempts: 1,
          isParsed: false,
        }),
        exists: async () => false,
      },
      chunks: { clear: async () => undefined },
      files: { checkOut: async () => ({ path: 'x', release: async () => void seen.push('released') }) },
      parser: {
        parse: (_request: unknown, _stores: unknown, signal: AbortSignal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            clock.advance(1_000);
          }),
      },
      clock,
      onError: () => undefined,
    } as unknown as IngestDeps,
    'd',
    new AbortController().signal,
  );
  expect(await run).toBeUndefined();
  expect(seen).toEqual(['released']);
});
