import { expect, test } from 'vitest';
import { limitConcurrency } from '../../../src/base/async/limitConcurrency.ts';

test('Works run up to the limit, others wait in order, and more are rejected', async () => {
  const run = limitConcurrency({ running: 2, waiting: 2, full: () => new Error('full') });
  const started: string[] = [];
  const work = (name: string) => {
    const { promise, resolve, reject } = withResolvers();
    const result = run(() => {
      started.push(name);
      return promise;
    }).catch((error: Error) => error.message);
    return { result, resolve, reject };
  };
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(work);
  await expect(work('e').result).resolves.toBe('full');
  expect(started).toEqual(['a', 'b']);
  b?.reject(new Error('failed'));
  expect(await b?.result).toBe('failed');
  expect(started).toEqual(['a', 'b', 'c']);
  for (const one of [a, c, d]) one?.resolve('done');
  expect(await Promise.all([a?.result, c?.result, d?.result])).toEqual(['done', 'done', 'done']);
  expect(started).toEqual(['a', 'b', 'c', 'd']);
  expect(await run(async () => 'again')).toBe('again');
});

function withResolvers() {
  let resolve: (value: string) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<string>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}
