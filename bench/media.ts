/**
 * The cost of a call's audio beside rtpengine in user space, and its timing.
 *
 *   npm run bench:media [-- --seconds 60 --calls 50,100,200 --without-busy]
 *
 * Ours is the full path: RTP in and out, jitter buffer, codec, recording, the audio WebSocket and its other end with voice
 * activity detection, in one process with one media thread. rtpengine relays the same calls in both directions. CPU is the
 * process's, of all its threads; the phones run here. A call with six participants, all of whom talk, is compared with a
 * call without. Deviation is how much later than due a frame was sent, on the
 * thread's own clock; anything later than 100 ms, and what was skipped, counts as 100 ms.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { percentileOf } from '../src/media/ticker/delayHistogram.ts';
import { measureConcealment } from './media/concealment.ts';
import { startGatewayProcess } from './media/gateway.ts';
import { startPhones } from './media/phones.ts';
import { startRtpengine } from './media/rtpengine.ts';
import { compileProgram } from './support/compile.ts';

const WANTED = { timesOfRtpengine: 4, callsPerCore: 200, p99Ms: 2, busyP99Ms: 8, timesOfCall: 3 };
const PARTICIPANTS = 6;
/** Each has a WebSocket and a recording, so that a call's own cost is steady. */
const CONFERENCES = 20;
const BUSY_SHARE = 0.3;
/** Time until the hot code is compiled and the sockets are warm. */
const WARM_UP_MS = 8000;
const LOSSES = [0.01, 0.03, 0.05];

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    calls: { type: 'string', default: '50,100,200' },
    'without-busy': { type: 'boolean', default: false },
  },
});
const seconds = Number(options.seconds);
const program = await compileProgram('media/gatewayProcess.ts');
const rows: string[][] = [];
for (const calls of options.calls.split(',').map(Number)) {
  const relayUs = await measureRelay(calls);
  rows.push(await measureOurs(calls, 0, relayUs));
  if (!options['without-busy']) rows.push(await measureOurs(calls, BUSY_SHARE, relayUs));
}
const { timesOfRtpengine, callsPerCore, p99Ms, busyP99Ms } = WANTED;
console.log(
  `Aim: at most ${timesOfRtpengine} times rtpengine, ${callsPerCore} calls a core, p99 under ${p99Ms} ms (busy ${busyP99Ms} ms), 100 % sent, 1 MB a call.`,
);
const head = ['calls', 'main thread', '% of a core a call', 'rtpengine', 'times', 'calls a core'];
console.log(table([[...head, 'late p50 ms', 'p99', 'max', 'sent', 'MB a call'], ...rows]));
const [callUs, conferenceUs] = [await measureCallUs(0), await measureCallUs(PARTICIPANTS)];
console.log(
  `A call with ${PARTICIPANTS} participants takes ${(conferenceUs / 1e4).toFixed(3)} % of a core, ${(conferenceUs / callUs).toFixed(2)} times a call without (${(callUs / 1e4).toFixed(3)} %; aim: at most ${WANTED.timesOfCall}).`,
);
console.log('Segmental SNR of voiced speech around its losses, dB (8 kHz, random, seeded).');
console.log(
  table([
    ['loss', 'silence', 'concealed'],
    ...LOSSES.map((loss) => {
      const { silence, concealed } = measureConcealment(loss);
      return [`${100 * loss} %`, silence.toFixed(1), concealed.toFixed(1)];
    }),
  ]),
);

/** @returns CPU time per call and second, µs; undefined without rtpengine. */
async function measureRelay(calls: number): Promise<number | undefined> {
  const rtpengine = await startRtpengine();
  if (rtpengine === undefined) {
    console.log('rtpengine is not installed (Debian: rtpengine-daemon); there is no peer in this run.');
    return undefined;
  }
  const [callers, callees] = [await startPhones(calls), await startPhones(calls)];
  try {
    const pairs: (readonly [number, number])[] = [];
    for (const [n, port] of callers.ports.entries()) {
      pairs.push(await rtpengine.relay(`bench-${calls}-${n}`, port, callees.ports[n] ?? 0));
    }
    callers.talkTo(pairs.map(([port]) => port));
    callees.talkTo(pairs.map(([, port]) => port));
    await sleep(WARM_UP_MS);
    const [before, heardBefore, startMs] = [rtpengine.cpuUs(), callees.received(), performance.now()];
    await sleep(seconds * 1000);
    const elapsed = (performance.now() - startMs) / 1000;
    const relayed = (callees.received() - heardBefore) / (calls * 50 * elapsed);
    if (relayed < 0.9) throw new Error(`rtpengine relayed ${(100 * relayed).toFixed(0)} % of the packets`);
    return (rtpengine.cpuUs() - before) / calls / elapsed;
  } finally {
    await Promise.all([callers.close(), callees.close()]);
    await rtpengine.close();
  }
}

async function measureOurs(calls: number, busyShare: number, relayUs: number | undefined): Promise<string[]> {
  const gateway = await startGatewayProcess(program);
  const phones = await startPhones(calls);
  try {
    const idle = await gateway.figures();
    phones.talkTo(await gateway.open(phones.ports));
    await sleep(WARM_UP_MS);
    const busyUs = await costOfBeingBusy(gateway, busyShare);
    const [before, startMs] = [await gateway.figures(), performance.now()];
    await sleep(seconds * 1000);
    const after = await gateway.figures();
    const elapsed = (performance.now() - startMs) / 1000;
    const callUs = ((after.cpuUs - before.cpuUs) / elapsed - busyUs) / calls;
    await gateway.close();
    const late = Float64Array.from(
      after.latenessCounts,
      (count, n) => count - (before.latenessCounts[n] ?? 0),
    );
    const [sent, skipped] = [after.ticks - before.ticks, after.skippedTicks - before.skippedTicks];
    return [
      String(calls),
      busyShare === 0 ? 'idle' : `${100 * busyShare} % busy`,
      (callUs / 1e4).toFixed(3),
      relayUs === undefined ? '-' : (relayUs / 1e4).toFixed(3),
      relayUs === undefined ? '-' : (callUs / relayUs).toFixed(1),
      (1e6 / callUs).toFixed(0),
      ...[0.5, 0.99, 1].map((share) => percentileOf(late, share).toFixed(2)),
      `${((100 * sent) / (sent + skipped)).toFixed(2)} %`,
      ((after.residentBytes - idle.residentBytes) / calls / 1e6).toFixed(2),
    ];
  } finally {
    await phones.close();
  }
}

/** @returns CPU time per call and second, µs. */
async function measureCallUs(participants: number): Promise<number> {
  const gateway = await startGatewayProcess(program);
  const phones = await startPhones(CONFERENCES * (1 + participants));
  try {
    phones.talkTo(await gateway.open(phones.ports, participants));
    await sleep(WARM_UP_MS);
    const [before, startMs] = [await gateway.figures(), performance.now()];
    await sleep(seconds * 1000);
    const { cpuUs } = await gateway.figures();
    const elapsed = (performance.now() - startMs) / 1000;
    await gateway.close();
    return (cpuUs - before.cpuUs) / CONFERENCES / elapsed;
  } finally {
    await phones.close();
  }
}

/** CPU time of the main thread's own work in µs per second, which is not a cost of the calls. */
async function costOfBeingBusy(
  gateway: Awaited<ReturnType<typeof startGatewayProcess>>,
  share: number,
): Promise<number> {
  gateway.beBusy(share);
  if (share > 0) await sleep(WARM_UP_MS);
  return share * 1e6;
}
