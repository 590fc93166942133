import { expect, test } from 'vitest';

import { BLOCK_CHARACTERS, createLogBlocks, LONGEST_WAIT_MS } from '../../src/observability/logBlocks.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

function world() {
  const clock = createSimulatedClock();
  const done: string[] = [];
  const blocks = createLogBlocks(
    {
      write: (block) => done.push(block),
      flush: (then) => {
        done.push('flush');
        then?.();
      },
      flushSync: () => done.push('flushSync'),
    },
    clock,
  );
  return { clock, done, blocks };
}

test('lines go out together, in their order, a tenth of a second after the first', () => {
  const { clock, done, blocks } = world();
  blocks.write('one\n');
  clock.advance(LONGEST_WAIT_MS - 1);
  blocks.write('two\n');
  expect(done).toEqual([]);
  clock.advance(1);
  expect(done).toEqual(['one\ntwo\n']);
  clock.advance(LONGEST_WAIT_MS * 10);
  expect(done).toHaveLength(1);
  expect(clock.pendingTimers()).toBe(0);
});

test('a full block goes out at once, and what follows waits anew', () => {
  const { clock, done, blocks } = world();
  const line = `${'x'.repeat(BLOCK_CHARACTERS / 2 - 1)}\n`;
  blocks.write(line);
  expect(done).toEqual([]);
  blocks.write(line);
  expect(done).toEqual([line + line]);
  expect(clock.pendingTimers()).toBe(0);
  blocks.write('more\n');
  clock.advance(LONGEST_WAIT_MS);
  expect(done).toEqual([line + line, 'more\n']);
});

test('flushing hands on what there is before the sink is flushed', () => {
  const { done, blocks } = world();
  let heard = false;
  blocks.write('one\n');
  blocks.flush(() => {
    heard = true;
  });
  expect([...done, heard]).toEqual(['one\n', 'flush', true]);
  blocks.write('two\n');
  blocks.flushSync();
  blocks.flushSync();
  expect(done.slice(2)).toEqual(['two\n', 'flushSync', 'flushSync']);
});
