/**
 * What a dialect costs: the CPU time of voice sessions on streams in it, beside those in our own dialect at the same rate.
 *
 *   npm run bench:streams [-- --streams 100 --seconds 5 --rounds 3 --only twilio,plivo]
 *
 * The agent speaks and the caller's noise is listened to all the time, with the product's voice activity detection; model
 * and voice are scripted. Both dialects are measured in the same seconds, each in a process of its own, so that other
 * programs slow both; the carriers run in processes of their own. The median of the rounds counts. Exits with 1 when a
 * dialect needs more than 1.2 times our own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { audioDialectNames, type DialectName } from '../src/streams/dialects/index.ts';
import type { AgentsFigures } from './streams/agents.ts';
import { type Carriers, carrierRates } from './streams/carriers.ts';
import { nextMessage } from './support/childMessage.ts';
import { compileProgram } from './support/compile.ts';
import { median } from './support/statistics.ts';

const AIM = 1.2;
const WARM_UP_MS = 3000;
const START_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

const { values: options } = parseArgs({
  options: {
    streams: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: audioDialectNames.join(',') },
  },
});
const streams = Number(options.streams);
const wanted = options.only.split(',');
const program = await compileProgram('streams/agents.ts');
const [ours, theirs] = [await startSide(), await startSide()];
const rows = [['dialect', 'rate', 'CPU % a stream', 'our own', 'ratio', 'lowest', 'highest']];
try {
  for (const dialect of audioDialectNames.filter((name) => name !== 'callway' && wanted.includes(name))) {
    const sampleRateHz = carrierRates[dialect] ?? 8000;
    const costs: (readonly [own: number, other: number])[] = [];
    for (let round = 0; round < Number(options.rounds); round++) {
      await Promise.all([ours.call('callway', sampleRateHz), theirs.call(dialect, sampleRateHz)]);
      await sleep(WARM_UP_MS);
      costs.push(await Promise.all([ours.cost(), theirs.cost()]));
      await Promise.all([ours.hangUp(), theirs.hangUp()]);
    }
    const ratios = costs.map(([own, other]) => other / own);
    if (median(ratios) > AIM) process.exitCode = 1;
    const numbers = [
      median(costs.map(([, other]) => other)).toFixed(3),
      median(costs.map(([own]) => own)).toFixed(3),
      ...[median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)),
    ];
    rows.push([dialect, String(sampleRateHz), ...numbers]);
  }
} finally {
  ours.close();
  theirs.close();
}
console.log(table(rows));

/** Agents, and the carriers that call them. */
async function startSide() {
  const agents = fork(program, { execArgv: [] });
  const { port, tcpPort } = await nextMessage<AgentsFigures>(agents);
  const carriers = fork(new URL('./streams/carriers.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  const figures = () => tell<AgentsFigures>(agents, 'figures');
  return {
    async call(dialect: DialectName, sampleRateHz: number) {
      const isTcp = dialect === 'audiosocket';
      await tell(carriers, { dialect, sampleRateHz, port: isTcp ? tcpPort : port, streams });
      // Where the first audio begins a session, it begins after the connection.
      const untilMs = performance.now() + START_TIMEOUT_MS;
      while ((await figures()).sessions < streams) {
        if (performance.now() > untilMs) throw new Error(`${dialect}: not all of ${streams} streams start`);
        await sleep(POLL_MS);
      }
    },
    /** @returns Percent of a core that one stream needs. */
    async cost() {
      const [before, startedMs] = [await figures(), performance.now()];
      await sleep(Number(options.seconds) * 1000);
      const [after, elapsedMs] = [await figures(), performance.now() - startedMs];
      if (after.sessions < streams) throw new Error(`${after.sessions} of ${streams} streams are open`);
      return (after.cpuUs - before.cpuUs) / 10 / elapsedMs / streams;
    },
    async hangUp() {
      await tell(carriers, 'hang up');
      while ((await figures()).sessions > 0) await sleep(POLL_MS);
    },
    close() {
      carriers.kill();
      agents.kill();
    },
  };
}

function tell<Answer>(child: ChildProcess, order: Carriers | 'hang up' | 'figures'): Promise<Answer> {
  child.send(order);
  return nextMessage(child);
}
