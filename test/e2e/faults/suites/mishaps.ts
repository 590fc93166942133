import { execFileSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';

import { serveOnLoopback } from '../../../support/loopbackServer.ts';
import { failing, type RequestBody, type Script, saying } from '../../../support/scriptedUpstream.ts';
import { requires, requiresSipPeers } from '../../../support/skips.ts';
import { makeTempDir } from '../../../support/tempDir.ts';
import { makeLine, SLOW } from '../../phone/support/line.ts';
import { ALL_EVENTS } from '../../phone/support/webhooks.ts';
import { longestSilenceMs, REPLIES_TO_DIGITS } from '../support/people.ts';
import type { Rig } from '../support/rig.ts';
import { report } from '../support/table.ts';

const TIMEOUT = 180_000;
/** The longest silence that a caller may hear. */
const DEAD_LINE_MS = 10_000;
/** A person who waits for what follows a filler. */
const PATIENT_QUIET_MS = 4000;
/** For the recordings of all calls of the installation. */
const DISK_KILOBYTES = 32 * 1024;
const FILL_MS = 50;
const isRoot = process.getuid?.() === 0;
/** What the model does after the callee's DTMF digit, selected by the call's variable. */
const MODES = {
  'fails once': () => failing(503, 'overloaded'),
  hangs: () => ({ instead: 'hang' }) as const,
};
type Mode = keyof typeof MODES;

/** Prompts that tell {@link modelThatFails} the call's variable `mode`. */
export const PATHWAY_OF_MODES = {
  ...REPLIES_TO_DIGITS,
  nodes: REPLIES_TO_DIGITS.nodes.map((node) => ({
    ...node,
    data: { ...node.data, prompt: 'Be kind; mode: {{ mode }}.' },
  })),
};

/** The scripted model of all calls: fails or hangs where the call's mode says so. */
export function modelThatFails(): (body: RequestBody) => Script {
  let hasFailed = false;
  return (body) => {
    const text = JSON.stringify(body.messages);
    const mode = (Object.keys(MODES) as Mode[]).find((name) => text.includes(`mode: ${name}.`));
    const isAnswered = text.includes('"role":"user"');
    if (mode && isAnswered && !(mode === 'fails once' && hasFailed)) {
      hasFailed ||= mode === 'fails once';
      return MODES[mode]();
    }
    return { steps: saying(text.includes('mode: .') ? 'Good. Press one again, please.' : 'All right.') };
  };
}

/** A folder for a disk that is small enough to be filled, where this process may mount one. */
export function makeSmallDisk() {
  const disk = makeTempDir();
  const filling = join(disk.path, 'filling');
  return {
    path: disk.path,
    mount() {
      if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_KILOBYTES}k`, 'tmpfs', disk.path]);
    },
    /** Takes all space, including that which other processes release. */
    fill() {
      for (const length of [65_536, 4096, 1]) {
        try {
          for (;;) appendFileSync(filling, Buffer.alloc(length));
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
        }
      }
    },
    release: () => rmSync(filling, { force: true }),
    remove() {
      if (isRoot) execFileSync('umount', [disk.path]);
      disk.remove();
    },
  };
}

export type SmallDisk = ReturnType<typeof makeSmallDisk>;

/** @param disk - Holds the data of the media node. */
export function testMishaps(rig: () => Rig, disk: SmallDisk): void {
  describe.concurrent('a fault during a call', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
    const call = async (mode: string, digitCount: number, stays = false) => {
      const { line, people } = rig();
      const number = people.answering(digitCount, stays, PATIENT_QUIET_MS);
      const placed = await line.call({ toNumber: number, dynamicVariables: { mode } });
      const shown = await line.waitForEnd(placed);
      const silenceMs = longestSilenceMs(people.seen(number));
      const told = await line.waitForFinalized(placed);
      const { messages } = (await line.api('GET', `/session-history/${placed.sessionId}`)).body as {
        messages: { role: string; content: string }[];
      };
      return { shown, silenceMs, told, last: messages.at(-1)?.content, placed };
    };

    test.each([
      // On a busy machine the second attempt is slow enough for a filler.
      ['fails once', 'caller_hangup', expect.stringMatching(/^(One moment, please\. )?All right\.$/)],
      ['hangs', 'agent_error', expect.stringMatching(/something is not working on our side/)],
    ] as const)('when the model %s, the caller hears no dead air', async (mode, endReason, last) => {
      const seen = await call(mode, 1, endReason === 'agent_error');
      expect(seen).toMatchObject({ shown: { status: 'completed', endReason }, told: ALL_EVENTS, last });
      expect(seen.silenceMs).toBeLessThan(DEAD_LINE_MS);
      report({
        what: `The model ${mode}`,
        done: 'from the first key on, with 6 s of patience for each of two attempts',
        seen: `“${seen.last}”; longest silence ${seen.silenceMs} ms; completed, ${endReason}; 4 events, once`,
      });
    });

    test(
      'when the disk is full, the recording fails with an event and the call continues',
      requires(isRoot, 'mounting a small disk needs root'),
      async ({ onTestFinished }) => {
        const filling = setInterval(disk.fill, FILL_MS);
        onTestFinished(() => {
          clearInterval(filling);
          disk.release();
        });
        const { shown, told, placed } = await call('none', 2);
        expect([shown.status, shown.endReason, told]).toEqual(['completed', 'caller_hangup', ALL_EVENTS]);
        expect((await rig().line.readCall(placed)).recording).toMatchObject({ status: 'failed' });
        const ready = rig()
          .webhooks.forSession(placed.sessionId)
          .find(({ event }) => event === 'recording.ready');
        expect(ready.recording).toMatchObject({ status: 'failed', error: expect.any(String) });
        expect(ready.recordingUrl).toBeUndefined();
        report({
          what: 'Disk full',
          done: 'a disk of its own under the recordings, filled to the last byte during the call',
          seen: `recording.ready failed (“${ready.recording.error}”); the call went on to its end after ${shown.durationMs} ms`,
        });
      },
    );

    test('when a webhook receiver hangs, it gets each event once and delays no other receiver', async ({
      onTestFinished,
    }) => {
      const received: string[] = [];
      const hanging = await serveOnLoopback(async (request) => {
        const { sessionId, event } = (await json(request)) as { sessionId: string; event: string };
        received.push(`${sessionId} ${event}`);
      });
      onTestFinished(() => hanging.close());
      const { cluster, webhooks, line, people } = rig();
      const url = `http://127.0.0.1:${hanging.port}/hook`;
      const slow = await makeLine(cluster.client, { url, forSession: () => [] }, { trunks: [] });
      const sessions = Array.from({ length: 12 }, (_, index) => `hanging-${index}`);
      for (const id of sessions) {
        const headers = { 'x-session-id': id };
        const body = { messages: [{ role: 'user', content: 'Hello' }] };
        expect((await slow.api('POST', '/chat/completions', body, { headers })).status).toBe(200);
        expect((await slow.api('DELETE', '/sessions', { session_id: id })).status).toBe(200);
      }
      const number = people.answering(1);
      const other = await line.call({ toNumber: number, dynamicVariables: { mode: 'none' } });
      const { endedAt } = await line.waitForEnd(other);
      expect(await line.waitForFinalized(other)).toEqual(ALL_EVENTS);
      const waitedMs = Date.now() - Date.parse(endedAt);
      expect(webhooks.forSession(other.sessionId)).toHaveLength(4);
      const deliveries = async () =>
        (await slow.api('GET', '/webhook-deliveries?limit=100')).body.data as { error: { code: string } }[];
      await vi.waitFor(async () => expect(await deliveries()).toHaveLength(2 * sessions.length), {
        ...SLOW,
        timeout: 90_000,
      });
      expect(received).toHaveLength(2 * sessions.length);
      expect(new Set(received).size).toBe(received.length);
      report({
        what: 'A webhook’s target hangs',
        done: `12 sessions ended at a target that never answers, then a call of another project`,
        seen: `the other project’s 4 events were there ${waitedMs} ms after its call; the target was told ${received.length} events, once each, all recorded as ${(await deliveries())[0]?.error.code}`,
      });
    });
  });
}
