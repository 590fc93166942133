import { describe, expect, test } from 'vitest';
import { createPatientEmbedder } from '../../src/providers/patientEmbedder.ts';
import { type Embedder, LOCAL_EMBEDDING_MODEL } from '../../src/providers/ports/embedder.ts';
import { ModelError } from '../../src/providers/ports/modelError.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const forever = new AbortController().signal;
const VECTOR = new Float32Array(512);
const away = (options: { retryable?: boolean; retryAfterSeconds?: number } = {}) =>
  new ModelError('model_unavailable', 'away', { beforeFirstToken: true, ...options });

/** Fails with these, then answers; tells when it was asked. */
function failing(...failures: readonly (Error | 'never')[]) {
  const clock = createSimulatedClock();
  const askedAt: number[] = [];
  const left = [...failures];
  const embedder: Embedder = {
    model: LOCAL_EMBEDDING_MODEL,
    batchSize: 1,
    embed: (_texts, signal) => {
      askedAt.push(clock.monotonicMs());
      const failure = left.shift();
      if (failure === 'never') {
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      return failure ? Promise.reject(failure) : Promise.resolve([VECTOR]);
    },
  };
  const patient = createPatientEmbedder(embedder, { clock, attempts: 3, timeoutMs: 5_000 });
  return { clock, askedAt, patient };
}

/** Moves the clock on while promises settle. */
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

describe('a failure that may pass', () => {
  test('is answered by further attempts, after growing rests', async () => {
    const { clock, askedAt, patient } = failing(away(), away());
    expect(await settle(clock, patient.embed(['a'], forever))).toEqual([VECTOR]);
    expect(askedAt).toEqual([0, 500, 1500]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('is waited for as long as the endpoint asks', async () => {
    const { clock, askedAt, patient } = failing(away({ retryAfterSeconds: 4 }));
    await settle(clock, patient.embed(['a'], forever));
    expect(askedAt).toEqual([0, 4000]);
  });

  test.each([
    ['after the last attempt', [away(), away(), away()], 3],
    ['when the endpoint wants too long a rest', [away({ retryAfterSeconds: 31 })], 1],
    ['when another attempt would not help', [away({ retryable: false })], 1],
    ['when it is none of the encoder’s', [new Error('bug')], 1],
  ])('is thrown %s', async (_, failures, asked) => {
    const { clock, askedAt, patient } = failing(...failures);
    await expect(settle(clock, patient.embed(['a'], forever))).rejects.toThrow(/away|bug/);
    expect(askedAt).toHaveLength(asked);
    expect(clock.pendingTimers()).toBe(0);
  });
});

test('an encoder that falls silent is given up, and asked again', async () => {
  const { clock, askedAt, patient } = failing('never');
  expect(await settle(clock, patient.embed(['a'], forever))).toEqual([VECTOR]);
  expect(askedAt).toEqual([0, 5500]);
});

test('an abort ends a rest at once', async () => {
  const { clock, askedAt, patient } = failing(away());
  const abort = new AbortController();
  const embedding = patient.embed(['a'], abort.signal);
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort(new Error('left'));
  await expect(embedding).rejects.toThrow('left');
  expect([askedAt.length, clock.pendingTimers()]).toEqual([1, 0]);
});
