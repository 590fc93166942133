import { expect, test } from 'vitest';
import { createBreakers } from '../../../src/models/failover/circuitBreaker.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { RecognitionStream, Transcript } from '../../../src/models/ports/speechToText.ts';
import { createBatchChain } from '../../../src/models/recognition/batchChain.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const forever = new AbortController().signal;

/** Vendors by name, which answer with the frames that they heard, as the test lets them. */
function rig(names: string, finalize: (name: string, signal: AbortSignal) => Promise<void>) {
  const clock = createSimulatedClock();
  const breakers = createBreakers(clock);
  const fallbacks: string[] = [];
  const recorded: string[] = [];
  const opened: string[] = [];
  const closed: string[] = [];
  const chain = createBatchChain(
    [...names].map((name) => ({
      name,
      breaker: name,
      metrics: {
        recordError: ({ code }) => void recorded.push(`${name} ${code}`),
        recordFirstOutput: (waitedMs) => void recorded.push(`${name} ${waitedMs}`),
        recordOutput: () => undefined,
      },
      model: {
        name,
        openStream(): RecognitionStream {
          opened.push(name);
          let heard = '';
          return {
            push: (samples) => {
              heard += samples[0];
            },
            async finalize(signal): Promise<Transcript> {
              await finalize(name, signal);
              return { text: `${name} ${heard}` };
            },
            close: () => void closed.push(name),
          };
        },
        close: async () => undefined,
      },
    })),
    { clock, breakers, onFallback: (from, to) => void fallbacks.push(`${from.name} ${to.name}`) },
  );
  const open = () => chain.openStream({ sampleRateHz: 8000 });
  return { chain, open, clock, fallbacks, recorded, opened, closed };
}

const down = (...names: string[]) => {
  const fail = async (name: string) => {
    if (names.includes(name)) throw new ModelError('model_unavailable', 'away');
  };
  return fail;
};
const mute = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('The next vendor hears the whole utterance, and what follows its pause', async () => {
  const { chain, open, fallbacks, opened, closed } = rig('abc', down('a'));
  const stream = open();
  expect(opened).toEqual(['a']);
  stream.push(Int16Array.of(1));
  stream.push(Int16Array.of(2));
  expect(await stream.finalize(forever)).toEqual({ text: 'b 12' });
  stream.push(Int16Array.of(3));
  expect(await stream.finalize(forever)).toEqual({ text: 'b 123' });
  expect([fallbacks, chain.name]).toEqual([['a b'], 'b']);
  stream.close();
  expect(closed).toEqual(['a', 'b']);
  open();
  expect(opened).toEqual(['a', 'b', 'b']);
});

test('A vendor that never answers is left after 4 s for one that has not failed itself', async () => {
  const call = rig('abc', (name, signal) => (name === 'a' ? mute(signal) : down('b')(name)));
  const stream = call.open();
  stream.push(Int16Array.of(1));
  const answer = stream.finalize(forever);
  await Promise.resolve();
  call.clock.advance(3999);
  expect(call.opened).toEqual(['a']);
  call.clock.advance(1);
  expect(await answer).toEqual({ text: 'c 1' });
  expect(call.fallbacks).toEqual(['a b', 'b c']);
});

test('Each answer is measured, and each failure counted, but no abort', async () => {
  const { open, recorded, clock } = rig('ab', async (name, signal) => {
    if (name === 'a') return await mute(signal);
    clock.advance(300);
  });
  const abort = new AbortController();
  const left = open().finalize(abort.signal);
  abort.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  const answer = open().finalize(forever);
  await Promise.resolve();
  clock.advance(4000);
  await answer;
  expect(recorded).toEqual(['a model_unavailable', 'b 300']);
  expect(clock.pendingTimers()).toBe(0);
});
