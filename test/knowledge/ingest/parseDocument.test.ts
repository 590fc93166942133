import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { parseDocument } from '../../../src/knowledge/ingest/parseDocument.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { tempDir } from '../../support/tempDir.ts';

const LIMIT_MS = 1_000;
/** Two messages of chunks, so that the thread has to continue after the first. */
const PARAGRAPHS = Array.from(
  { length: 300 },
  (_, index) => `The article of number ${index} is on the shelf here.`,
);

function order() {
  const path = join(tempDir(), 'a.txt');
  writeFileSync(path, PARAGRAPHS.join('\n\n'));
  return { path, name: 'a.txt', type: 'text', chunkSize: 60, chunkOverlap: 0 } as const;
}

test('Storing chunks does not count towards the parse timeout', async () => {
  const clock = createSimulatedClock();
  let count = 0;
  const keep = async (chunks: readonly unknown[]) => {
    count += chunks.length;
    clock.advance(10 * LIMIT_MS);
  };
  const deps = { clock, limits: { timeMs: LIMIT_MS } };
  await parseDocument(order(), keep, deps, new AbortController().signal);
  expect(count).toBe(PARAGRAPHS.length);
  expect(clock.pendingTimers()).toBe(0);
});

test('A parse thread that exceeds its timeout is terminated', async () => {
  const clock = createSimulatedClock();
  const deps = { clock, limits: { timeMs: LIMIT_MS } };
  const parsed = parseDocument(order(), async () => undefined, deps, new AbortController().signal);
  clock.advance(LIMIT_MS);
  await expect(parsed).rejects.toThrow('takes more than 1 s to read');
  expect(clock.pendingTimers()).toBe(0);
});
