import { describe, expect, test } from 'vitest';
import { createRetryingEmbedder } from '../../../src/models/failover/retryingEmbedder.ts';
import { type Embedder, LOCAL_EMBEDDING_MODEL } from '../../../src/models/ports/embedder.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const forever = new AbortController().signal;
const VECTOR = new Float32Array(512);
const unavailable = (options: { retryable?: boolean; retryAfterSeconds?: number } = {}) =>
  new ModelError('model_unavailable', 'away', options);

/** An embedder that fails with these and then answers; records when it is called. */
function failing(...failures: readonly (Error | 'never')[]) {
  const clock = createSimulatedClock();
  const requestedAt: number[] = [];
  const left = [...failures];
  const embedder: Embedder = {
    model: LOCAL_EMBEDDING_MODEL,
    batchSize: 1,
    embed: (_texts, signal) => {
      requestedAt.push(clock.monotonicMs());
      const failure = left.shift();
      if (failure === 'never') {
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      return failure ? Promise.reject(failure) : Promise.resolve([VECTOR]);
    },
  };
  const recorded: (string | number)[] = [];
  const metrics = {
    recordError: ({ code }: { code: string }) => void recorded.push(code),
    recordOutput: () => undefined,
    recordFirstOutput: (waitedMs: number) => void recorded.push(waitedMs),
  };
  const retrying = createRetryingEmbedder(embedder, { clock, maxAttempts: 3, timeoutMs: 5_000, metrics });
  return { clock, requestedAt, recorded, retrying };
}

/** Advances the clock while promises settle. */
async function settle<Result>(clock: ReturnType<typeof createSimulatedClock>, promise: Promise<Result>) {
  let isDone = false;
  const done = promise.finally(() => {
    isDone = true;
  });
  done.catch(() => undefined);
  for (let step = 0; step < 2_000 && !isDone; step += 1) {
    await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    if (!isDone) clock.advance(100);
  }
  return await done;
}

describe('A retryable failure', () => {
  test('is retried with exponential backoff', async () => {
    const { clock, requestedAt, recorded, retrying } = failing(unavailable(), unavailable());
    expect(await settle(clock, retrying.embed(['a'], forever))).toEqual([VECTOR]);
    expect([requestedAt, recorded]).toEqual([[0, 500, 1500], [1500]]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('is retried after the delay that the endpoint asks for', async () => {
    const { clock, requestedAt, retrying } = failing(unavailable({ retryAfterSeconds: 4 }));
    await settle(clock, retrying.embed(['a'], forever));
    expect(requestedAt).toEqual([0, 4000]);
  });

  test.each([
    ['after the last attempt', [unavailable(), unavailable(), unavailable()], 3],
    ['when the endpoint asks for too long a delay', [unavailable({ retryAfterSeconds: 31 })], 1],
    ['when it is not retryable', [unavailable({ retryable: false })], 1],
    ['when it is not a model error', [new Error('bug')], 1],
  ])('is thrown %s', async (_, failures, asked) => {
    const { clock, requestedAt, retrying } = failing(...failures);
    await expect(settle(clock, retrying.embed(['a'], forever))).rejects.toThrow(/away|bug/);
    expect(requestedAt).toHaveLength(asked);
    expect(clock.pendingTimers()).toBe(0);
  });
});

test('An attempt that times out is retried', async () => {
  const { clock, requestedAt, retrying } = failing('never');
  expect(await settle(clock, retrying.embed(['a'], forever))).toEqual([VECTOR]);
  expect(requestedAt).toEqual([0, 5500]);
});

test('An abort ends the delay before a retry', async () => {
  const { clock, requestedAt, retrying } = failing(unavailable());
  const abort = new AbortController();
  const embedding = retrying.embed(['a'], abort.signal);
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort(new Error('left'));
  await expect(embedding).rejects.toThrow('left');
  expect([requestedAt.length, clock.pendingTimers()]).toEqual([1, 0]);
});
