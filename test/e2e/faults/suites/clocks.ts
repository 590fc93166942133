import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

import { makeTempDir } from '../../../support/tempDir.ts';
import { ALL_EVENTS } from '../../phone/support/webhooks.ts';
import type { Rig } from '../support/rig.ts';
import { report } from '../support/table.ts';

const MINUTE_MS = 60_000;
/** The sweep, which ends the calls of nodes without a heartbeat for 30 s, has run twice. */
const SWEPT_MS = 20_000;
const PRELOAD = pathToFileURL(
  fileURLToPath(new URL('../../../support/skewedClock.mjs', import.meta.url)),
).href;

/** The system clocks of an installation's nodes. */
export interface NodeClocks {
  /** Settings of a node, so that its clock can be set. */
  envOf(node: number): Readonly<Record<string, string>>;
  /** @param offsetMs - From this machine's clock. */
  set(node: number, offsetMs: number): void;
  /** Removes their files. */
  remove(): void;
}

export function makeNodeClocks(): NodeClocks {
  const folder = makeTempDir();
  const fileOf = (node: number) => join(folder.path, `offset-${node}`);
  return {
    envOf: (node) => ({ NODE_OPTIONS: `--import ${PRELOAD}`, CLOCK_OFFSET_FILE: fileOf(node) }),
    set: (node, offsetMs) => writeFileSync(fileOf(node), String(offsetMs)),
    remove: folder.remove,
  };
}

/** Before they start: the first node is five minutes ahead, the second, which has the calls, five minutes behind. */
export function setClocksApart(clocks: NodeClocks): void {
  clocks.set(0, 5 * MINUTE_MS);
  clocks.set(1, -5 * MINUTE_MS);
}

/** The last of its installation. @param clocks - As {@link setClocksApart} left them; afterwards they are an hour off. */
export function testClocks(rig: () => Rig, clocks: NodeClocks): void {
  describe('nodes whose clocks differ', { timeout: 150_000 }, () => {
    test('keep their calls, ten minutes apart, and when a clock is set in mid-call', async () => {
      const { startCalls, waitForAnswers, waitForCompletion, line, webhooks } = rig();
      const running = await startCalls(2, 10);
      const sinceMs = performance.now();
      // The node of the calls jumps from five minutes behind to an hour ahead; the other one's falls behind.
      clocks.set(1, 60 * MINUTE_MS);
      clocks.set(0, -60 * MINUTE_MS);
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
}
