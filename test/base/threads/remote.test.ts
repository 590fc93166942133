import { MessageChannel } from 'node:worker_threads';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { CallwayError } from '../../../src/base/errors.ts';
import { type Remote, remoteOf, serve } from '../../../src/base/threads/remote.ts';

class Methods {
  readonly told: string[] = [];
  add(one: number, other: number): number {
    return one + other;
  }
  async half(samples: Int16Array): Promise<Int16Array> {
    return samples.subarray(0, samples.length / 2);
  }
  fail(how: 'callway' | 'system' | 'text' | 'uncloneable'): unknown {
    if (how === 'callway')
      throw new CallwayError('rate_limited', 'busy', 'later', {
        retryAfterSeconds: 7,
        cause: new Error('x'),
      });
    if (how === 'system') throw Object.assign(new Error('taken'), { code: 'EADDRINUSE' });
    if (how === 'text') throw 'a text';
    return () => undefined;
  }
  never(): Promise<void> {
    return new Promise(() => undefined);
  }
  tell(text: string): void {
    this.told.push(text);
  }
}

let methods: Methods;
let remote: Remote<Methods>;
beforeEach(() => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  methods = new Methods();
  serve(port2, methods);
  remote = remoteOf<Methods>(port1);
});

test('A call returns what the other end’s method returns', async () => {
  const results = await Promise.all([remote.call.add(1, 2), remote.call.half(Int16Array.of(1, 2, 3, 4))]);
  expect(results).toEqual([3, Int16Array.of(1, 2)]);
});

test.each([
  ['callway', { name: 'CallwayError', category: 'rate_limited', code: 'busy', retryAfterSeconds: 7 }],
  ['system', { name: 'Error', message: 'taken', code: 'EADDRINUSE' }],
  ['text', { name: 'Error', message: 'a text' }],
  ['uncloneable', { message: expect.stringContaining('could not be cloned') }],
] as const)('An error of the other end keeps its code: %s', async (how, error) => {
  await expect(remote.call.fail(how)).rejects.toMatchObject(error);
});

test('An argument that cannot be cloned rejects its own call alone', async () => {
  await expect(remote.call.add(1, Symbol('no') as unknown as number)).rejects.toThrow('could not be cloned');
  await expect(remote.call.add(1, 1)).resolves.toBe(2);
});

test('A notification is not answered, and comes before later calls', async () => {
  remote.notify.tell('one');
  remote.notify.tell('two');
  await remote.call.add(1, 1);
  expect(methods.told).toEqual(['one', 'two']);
});

test('Closing rejects the pending calls and later ones, and the object itself can be awaited', async () => {
  const pending = [remote.call.never(), remote.call.never()];
  remote.close(new Error('gone'));
  remote.close(new Error('gone again'));
  const results = await Promise.allSettled([...pending, remote.call.add(1, 1)]);
  expect(results.map((result) => 'reason' in result && result.reason.message)).toEqual(Array(3).fill('gone'));
  expect(await remote.call).toBe(remote.call);
});
