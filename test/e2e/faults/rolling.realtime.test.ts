import { describe, expect, test, vi } from 'vitest';

import { SLOW } from '../phone/support/line.ts';
import type { Role } from './support/cluster.ts';
import { startLoad } from './support/load.ts';
import { sharedRig } from './support/rig.ts';
import { report, requiresAllFaults } from './support/table.ts';

const TIMEOUT = 400_000;
const ALL: readonly Role[] = ['api', 'worker', 'voice', 'media'];

const nodes = [...ALL, ...ALL].map((role) => [role]);
const LOAD = { callsOut: 4, callsIn: 2, digitCount: 2 };
const rig = sharedRig({ nodes, env: { DRAIN_SECONDS: '120' } });
describe('a rolling restart under calls and chats', { ...requiresAllFaults, timeout: TIMEOUT }, () => {
  test('drops no call, loses and repeats no event, and refuses no chat', async () => {
    const load = startLoad(rig(), LOAD);
    await vi.waitFor(() => expect(Math.min(load.callsDone, load.chatsDone / 10)).toBeGreaterThan(1), SLOW);
    const beganMs = performance.now();
    const log: string[] = [];
    const say = (text: string) => {
      const seconds = ((performance.now() - beganMs) / 1000).toFixed(1).padStart(6);
      const { callsRunning, callsDone, chatsDone } = load;
      log.push(
        `${seconds} s  ${text.padEnd(46)} ${callsRunning} calls run, ${callsDone} done, ${chatsDone} chats`,
      );
    };
    for (const node of rig().cluster.nodes) {
      say(`${node.name}: SIGTERM`);
      const stoppedMs = performance.now();
      const { code } = await node.process.stop();
      say(`${node.name}: exit ${code} after ${Math.round(performance.now() - stoppedMs)} ms`);
      expect(code, node.process.lines.slice(-5).join('\n')).toBe(0);
      const startedMs = performance.now();
      await node.restart();
      say(`${node.name}: ready again after ${Math.round(performance.now() - startedMs)} ms`);
    }
    await load.stop();
    say('all restarted, load ended');
    console.log(log.join('\n'));
    await load.expectComplete();
    report({
      what: 'Rolling restart',
      done: `${rig().cluster.nodes.length} nodes, one after the other, by SIGTERM, under ${LOAD.callsOut} calls out, ${LOAD.callsIn} in and 3 chats at a time`,
      seen: `${load.callsDone} calls and ${load.chatsDone} chats: none dropped, none refused, 4 events a call, in order, once`,
    });
  });
});
