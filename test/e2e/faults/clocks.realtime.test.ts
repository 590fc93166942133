import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

import { makeTempDir } from '../../support/tempDir.ts';
import { ALL_EVENTS } from '../phone/support/webhooks.ts';
import { sharedRig } from './support/rig.ts';
import { report } from './support/table.ts';

const MINUTE_MS = 60_000;
/** The sweep, which ends the calls of nodes without a heartbeat for 30 s, has run twice. */
const SWEPT_MS = 20_000;
const PRELOAD = pathToFileURL(fileURLToPath(new URL('../../support/skewedClock.mjs', import.meta.url))).href;

const folder = makeTempDir();
const offsetFiles = [0, 1].map((index) => join(folder.path, `offset-${index}`));
/** Sets the system clock of a node. */
const setClock = (node: number, offsetMs: number) => writeFileSync(offsetFiles[node] ?? '', String(offsetMs));
setClock(0, 5 * MINUTE_MS);
setClock(1, -5 * MINUTE_MS);

const rig = sharedRig({
  nodes: [
    ['api', 'worker'],
    ['worker', 'voice', 'media'],
  ],
  envOfNode: (index) => ({
    NODE_OPTIONS: `--import ${PRELOAD}`,
    CLOCK_OFFSET_FILE: offsetFiles[index] ?? '',
  }),
});

describe('nodes whose clocks differ', { timeout: 150_000 }, () => {
  test('keep their calls, ten minutes apart, and when a clock is set in mid-call', async () => {
    onTestFinished(() => folder.remove());
    const { startCalls, waitForAnswers, waitForCompletion, line, webhooks } = rig();
    const running = await startCalls(2, 10);
    const sinceMs = performance.now();
    // The node of the calls jumps from five minutes behind to an hour ahead; the other one's falls behind.
    setClock(1, 60 * MINUTE_MS);
    setClock(0, -60 * MINUTE_MS);
    await waitForAnswers(running, sinceMs, 2);
    for (const call of running) expect((await line.readCall(call)).status).toBe('in_progress');
    const longestSilenceMs = await waitForCompletion(running);
    expect(performance.now() - sinceMs).toBeGreaterThan(SWEPT_MS);
    for (const call of running) {
      const shown = await line.readCall(call);
      expect(shown).toMatchObject({ status: 'completed' });
      expect(Math.abs(Date.parse(shown.endedAt) - Date.now())).toBeLessThan(MINUTE_MS);
      expect(webhooks.forSession(call.sessionId).map(({ event }) => event)).toEqual(ALL_EVENTS);
    }
    report({
      what: 'Clocks apart, and set in mid-call',
      done: 'a node 5 min ahead, one 5 min behind; then an hour behind and an hour ahead',
      seen: `2 calls completed, 4 events each, in order; longest silence ${Math.round(longestSilenceMs)} ms`,
    });
  });
});
