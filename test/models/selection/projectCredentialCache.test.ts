import { expect, test } from 'vitest';
import type { ProviderCredentials } from '../../../src/agents/speech/providerCredentials.ts';
import { ProjectCredentialCache } from '../../../src/models/selection/projectCredentialCache.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const named = (name: string) => [{ name }] as unknown as readonly ProviderCredentials[];

/** A cache over a database whose answers wait for `answer`. */
function cacheOver() {
  const clock = createSimulatedClock();
  const waiting: {
    resolve: (known: readonly ProviderCredentials[]) => void;
    reject: (error: Error) => void;
  }[] = [];
  const errors: unknown[] = [];
  const read = () =>
    new Promise<readonly ProviderCredentials[]>((resolve, reject) => waiting.push({ resolve, reject }));
  const cache = new ProjectCredentialCache(read, clock, (error) => errors.push(error));
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const answer = async (name: string) => {
    waiting.shift()?.resolve(named(name));
    await settled();
  };
  return { cache, clock, waiting, errors, answer, settled };
}

test('Credentials that were read ahead are waited for neither at once nor while they are read again', async () => {
  const { cache, clock, waiting, answer } = cacheOver();
  cache.prime('p', named('ahead'));
  expect(await cache.of('p')).toEqual(named('ahead'));
  expect(waiting).toHaveLength(0);
  clock.advance(5_000);
  expect(await cache.of('p')).toEqual(named('ahead'));
  expect(await cache.of('p')).toEqual(named('ahead'));
  expect(waiting).toHaveLength(1);
  await answer('newer');
  expect(await cache.of('p')).toEqual(named('newer'));
});

test('Credentials of a session that lives are kept fresh, others are read when they are asked for', async () => {
  const { cache, clock, waiting, answer, settled } = cacheOver();
  cache.prime('p', named('ahead'));
  const stop = cache.keepFresh('p');
  for (let seconds = 0; seconds < 60; seconds += 1) {
    clock.advance(1_000);
    await settled();
    // The database is two seconds away.
    if (seconds % 2 === 0) await answer(`after ${seconds} s`);
    const age = await Promise.race([cache.of('p'), 'waits']);
    expect(age).not.toBe('waits');
  }
  stop();
  await answer('last');
  clock.advance(60_000);
  expect(clock.pendingTimers()).toBe(0);
  const asked = cache.of('p');
  expect(waiting).toHaveLength(1);
  await answer('changed');
  expect(await asked).toEqual(named('changed'));
});

test('Credentials that cannot be read are as they were last, or none', async () => {
  const { cache, clock, waiting, errors, answer } = cacheOver();
  const unknown = cache.of('p');
  waiting.shift()?.reject(new Error('The database is away'));
  expect(await unknown).toEqual([]);
  clock.advance(20_000);
  const known = cache.of('p');
  await answer('own');
  expect(await known).toEqual(named('own'));
  clock.advance(20_000);
  const last = cache.of('p');
  waiting.shift()?.reject(new Error('The database is away'));
  expect(await last).toEqual(named('own'));
  expect(errors).toHaveLength(2);
});
