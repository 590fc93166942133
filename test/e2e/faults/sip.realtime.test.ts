import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test, vi } from 'vitest';

import { type Child, startChild, waitUntilReady } from '../../support/child.ts';
import { reservePort } from '../../support/ports.ts';
import { SLOW } from '../phone/support/line.ts';
import { ALL_EVENTS } from '../phone/support/webhooks.ts';
import { sharedRig } from './support/rig.ts';
import { report, requiresAllFaults } from './support/table.ts';

const TIMEOUT = 240_000;
const READY_TIMEOUT_MS = 60_000;
const FINALISED_MS = 60_000;
const SECRET = 'between-us';
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const [sipPort, controlPort] = await Promise.all([reservePort(), reservePort()]);
let server: Child | undefined;

async function startSipServer(): Promise<Child> {
  const args = ['bin/callway-sip.mjs', '--port', `${sipPort}`, '--control-port', `${controlPort}`];
  const child = await startChild(process.execPath, [...args, '--secret', SECRET], {
    cwd: ROOT,
    env: { PATH: process.env.PATH },
  });
  await waitUntilReady(
    'callway-sip',
    child,
    () => child.lines.some((line) => line.startsWith('SIP on')),
    READY_TIMEOUT_MS,
  );
  return child;
}

afterAll(async () => {
  server?.kill('SIGCONT');
  server?.kill('SIGKILL');
  await server?.ended;
});
const rig = sharedRig({
  nodes: [['api', 'worker', 'voice'], ['media']],
  async moreEnv(): Promise<Readonly<Record<string, string>>> {
    server = await startSipServer();
    return { DRACHTIO_URL: `drachtio://:${SECRET}@127.0.0.1:${controlPort}` };
  },
});

describe('the SIP server in a process of its own', { ...requiresAllFaults, timeout: TIMEOUT }, () => {
  test('when it freezes for a while, calls continue to their end', async () => {
    const { startCalls, waitForAnswers, waitForCompletion } = rig();
    const running = await startCalls(3, 6);
    server?.kill('SIGSTOP');
    const sinceMs = performance.now();
    await waitForAnswers(running, sinceMs + 500, 2);
    const awayMs = Math.round(performance.now() - sinceMs);
    server?.kill('SIGCONT');
    const silenceMs = await waitForCompletion(running);
    report({
      what: 'The SIP server freezes',
      done: `SIGSTOP under 3 calls, SIGCONT after ${awayMs} ms`,
      seen: `longest silence of the agent ${silenceMs} ms; all completed, 4 events each, once`,
    });
  });

  test('when it dies and restarts, audio continues and the calls end once their dialogs are known lost', async () => {
    const { startCalls, waitForAnswers, line, people, cluster } = rig();
    const running = await startCalls(3, 30);
    server?.kill('SIGKILL');
    await server?.ended;
    const sinceMs = performance.now();
    await waitForAnswers(running, sinceMs + 500, 2);
    await vi.waitFor(async () => {
      const ready = await fetch(`${cluster.node('media').url}/readyz`);
      await ready.arrayBuffer();
      expect(ready.status).toBe(503);
    }, SLOW);
    server = await startSipServer();
    const backMs = performance.now();
    const ends = new Set<string>();
    for (const call of running) {
      const shown = await vi.waitFor(
        async () => {
          const seen = await line.readCall(call);
          expect(seen.endedAt).not.toBeNull();
          return seen;
        },
        { timeout: FINALISED_MS, interval: 100 },
      );
      ends.add(`${shown.status}, ${shown.endReason}`);
      expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    }
    const endedMs = Math.round(performance.now() - backMs);
    const again = await vi.waitFor(() => line.call({ toNumber: people.answering(1) }), SLOW);
    expect(await line.waitForEnd(again)).toMatchObject({ status: 'completed', endReason: 'caller_hangup' });
    report({
      what: 'The SIP server dies',
      done: `SIGKILL under 3 calls, started again ${Math.round(backMs - sinceMs)} ms later`,
      seen: `the agent was heard while it was away; calls ended ${[...ends].join(' and ')} within ${endedMs} ms of its return, 4 events each, once; the next call completed`,
    });
  });
});
