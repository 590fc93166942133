/**
 * What a dialect costs: the CPU time of voice sessions on streams in it, beside those in our own dialect at the same rate.
 *
 *   npm run bench:streams [-- --streams 100 --seconds 5 --rounds 2 --only twilio,plivo]
 *
 * The agent speaks and the caller's noise is listened to all the time, with the product's voice activity detection; model
 * and voice are scripted. Each round measures our own dialect and the other in turn; the lowest of the rounds count, since
 * other programs only add. The carriers run in a process of their own. Exits with 1 when a dialect needs more than 1.2 times
 * our own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { audioDialectNames, type DialectName } from '../src/streams/dialects/index.ts';
import { startAgents } from './streams/agents.ts';
import { type Carriers, carrierRates } from './streams/carriers.ts';

const AIM = 1.2;
const WARM_UP_MS = 3000;
const START_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

const { values: options } = parseArgs({
  options: {
    streams: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '2' },
    only: { type: 'string', default: audioDialectNames.join(',') },
  },
});
const wanted = options.only.split(',');
const agents = await startAgents();
const carriers = fork(new URL('./streams/carriers.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
const rows = [['dialect', 'rate', 'CPU % a stream', 'our own', 'ratio']];
try {
  for (const dialect of audioDialectNames.filter((name) => name !== 'callway' && wanted.includes(name))) {
    const sampleRateHz = carrierRates[dialect] ?? 8000;
    let [cost, ours] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < Number(options.rounds); round++) {
      ours = Math.min(ours, await measure('callway', sampleRateHz));
      cost = Math.min(cost, await measure(dialect, sampleRateHz));
    }
    const ratio = cost / ours;
    if (ratio > AIM) process.exitCode = 1;
    rows.push([dialect, String(sampleRateHz), cost.toFixed(3), ours.toFixed(3), ratio.toFixed(2)]);
  }
} finally {
  carriers.kill();
  agents.close();
}
console.log(table(rows));

/** @returns Percent of a core that one stream needs. */
async function measure(dialect: DialectName, sampleRateHz: number): Promise<number> {
  const { streams, seconds } = options;
  const port = dialect === 'audiosocket' ? agents.tcpPort : agents.port;
  await tell(carriers, { dialect, sampleRateHz, port, streams: Number(streams) });
  await started(Number(streams));
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  const { user, system } = process.cpuUsage();
  const startedMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
  const used = process.cpuUsage();
  const elapsedMs = performance.now() - startedMs;
  const live = agents.count();
  if (live < Number(streams)) throw new Error(`${dialect}: ${live} of ${streams} streams are open`);
  await tell(carriers, 'hang up');
  return (used.user + used.system - user - system) / 10 / elapsedMs / Number(streams);
}

/** Where the first audio begins a session, it begins after the connection: what that takes is not measured. */
async function started(streams: number): Promise<void> {
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (agents.count() !== streams && performance.now() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

async function tell(child: ChildProcess, order: Carriers | 'hang up'): Promise<void> {
  child.send(order);
  await once(child, 'message');
}
