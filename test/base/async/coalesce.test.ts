import { expect, test } from 'vitest';

import { coalesceReads } from '../../../src/base/async/coalesce.ts';

/** Reads that settle when the test says so, in the order of their start. */
function scene() {
  const begun: { key: string; end(): void; fail(): void }[] = [];
  const find = coalesceReads(
    (key) =>
      new Promise<string>((resolve, reject) => {
        const count = begun.length + 1;
        begun.push({ key, end: () => resolve(`${key}${count}`), fail: () => reject(new Error(`${count}`)) });
      }),
  );
  const turns = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { begun, find, turns };
}

test('Callers that arrive during a read share one following read', async () => {
  const { begun, find, turns } = scene();
  const first = find('a');
  const later = [find('a'), find('a'), find('a')];
  expect(begun.length).toBe(1);
  begun[0]?.end();
  await turns();
  expect(begun.length).toBe(2);
  begun[1]?.end();
  expect(await Promise.all([first, ...later])).toEqual(['a1', 'a2', 'a2', 'a2']);
});

test('A caller that arrives during the shared read gets another read, not its result', async () => {
  const { begun, find, turns } = scene();
  const answers = [find('a'), find('a')];
  begun[0]?.end();
  await turns();
  answers.push(find('a'), find('a'));
  begun[1]?.end();
  await turns();
  expect(begun.length).toBe(3);
  begun[2]?.end();
  expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'a3', 'a3']);
});

test('Reads of different keys run concurrently', async () => {
  const { begun, find } = scene();
  const answers = [find('a'), find('b')];
  expect(begun.map(({ key }) => key)).toEqual(['a', 'b']);
  for (const one of begun) one.end();
  expect(await Promise.all(answers)).toEqual(['a1', 'b2']);
});

test('A failure reaches the callers that share the read, and the next read starts as usual', async () => {
  const { begun, find, turns } = scene();
  const failing = [find('a'), find('a')];
  const outcomes = Promise.allSettled(failing);
  begun[0]?.fail();
  await turns();
  begun[1]?.end();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});

test('A read starts at once when none is running', async () => {
  const { begun, find, turns } = scene();
  const answers = [find('a'), find('a')];
  begun[0]?.end();
  await turns();
  begun[1]?.end();
  await Promise.all(answers);
  await turns();
  const last = find('a');
  expect(begun.length).toBe(3);
  begun[2]?.end();
  expect(await last).toBe('a3');
});
