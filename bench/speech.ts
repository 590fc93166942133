/**
 * How soon the agent answers over streaming vendors: from the caller's last sound to the agent's first, over real SIP and
 * RTP, with scripted vendors of published latencies.
 *
 *   npm run bench:speech [-- --calls 1,50,100 --seconds 30]
 *
 * The product, the vendors and the phones are processes of their own on one machine, whose load counts against the figures.
 * The own part of a turn is what the phone waited less what the vendors took, by their own clocks: their timers are late too.
 */
import { parseArgs } from 'node:util';
import { table } from '../src/cli/table.ts';
import { REAL_TIME, setRealTime } from '../src/media/engine/threadPriority.ts';
import { type Installation, startInstallation } from './calls/installation.ts';
import { type CallRunFigures, runCalls, warmUp } from './calls/runCalls.ts';
import { recordedWords } from './calls/utterance.ts';
import { openStores } from './chat/stores.ts';
import { measureStreams } from './speech/cost.ts';
import { type OwnParts, ownParts, stepsTable } from './speech/steps.ts';
import { callerIn, LATENCIES, readVendorEvents } from './speech/vendors.ts';
import { compileProgram } from './support/compile.ts';
import { percentile } from './support/statistics.ts';

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '1,50,100' },
    seconds: { type: 'string', default: '30' },
  },
});
const program = await compileProgram('chat/child.ts');
const stores = await openStores(false);
const utterance = await recordedWords('I would like to know a little more about that.');
const runs: (CallRunFigures & { readonly own: readonly OwnParts[] })[] = [];
let streamsPercent = Number.NaN;
try {
  streamsPercent = await measureStreams(program);
  for (const calls of options.calls.split(',').map(Number)) runs.push(await measure(calls));
} finally {
  await stores.close();
}
console.log(
  `Scripted vendors: eager end ${LATENCIES.eagerEndMs} ms, end ${LATENCIES.endMs} ms, first token ${LATENCIES.firstTokenMs} ms, first sample ${LATENCIES.firstSampleMs} ms.`,
);
console.log(
  'Aim: heard p50 590 ms, p95 750; own part p50 40 ms, p95 120; cut-in to silence p50 25 ms, p95 60.',
);
const rows = runs.map(({ calls, failed, heardMs, phases, own }) => {
  const ownMs = own.map(({ wholeMs }) => wholeMs);
  const turns = phases.flatMap((phase) => phase.turns).filter(({ parts }) => (parts.endpointingMs ?? 0) > 0);
  const committed = turns.filter(({ parts }) => parts.preemptive === 'committed');
  const stopMs = phases.flatMap(({ stops }) => stops.map((stop) => stop.stopMs));
  return [
    ...[calls, failed, heardMs.length].map(String),
    ...[shown(heardMs, 0.5), shown(heardMs, 0.95)],
    ...[shown(ownMs, 0.5), shown(ownMs, 0.95)],
    ...[shown(stopMs, 0.5), shown(stopMs, 0.95)],
    `${committed.length} of ${turns.length}`,
  ];
});
console.log(
  `Streaming recognition and synthesis take ${streamsPercent.toFixed(2)} % of a core a call; aim: below 0.30 %.`,
);
const head = [
  'calls',
  'failed',
  'turns',
  'heard p50 ms',
  'p95',
  'own p50',
  'p95',
  'stop p50',
  'p95',
  'committed',
];
console.log(table([head, ...rows]));
for (const { calls, own } of runs) console.log(stepsTable(calls, own));

async function measure(calls: number): Promise<(typeof runs)[number]> {
  const stand = await startInstallation({
    ...{ program, stores, utterance, hasRoles: false, profileFolder: undefined },
    hasStreamingVendors: true,
  });
  // Where it is allowed the phones, which run in this thread, keep time as on machines of their own.
  setRealTime(REAL_TIME.phones);
  try {
    await warmUp(stand);
    const run = await runCalls(stand, calls, Number(options.seconds));
    const callers = new Map<string, number | undefined>();
    for (const sessionId of new Set(run.heardTurns.map((turn) => turn.sessionId)))
      callers.set(sessionId, await callerOf(stand, sessionId));
    const events = await readVendorEvents(stand.models.url);
    return { ...run, own: ownParts(run.heardTurns, events, (sessionId) => callers.get(sessionId)) };
  } finally {
    await stand.close();
  }
}

/** The recognizer's number of a call is in what it heard. */
async function callerOf({ project }: Installation, sessionId: string): Promise<number | undefined> {
  return callerIn(JSON.stringify(await project.call('GET', `/session-history/${sessionId}`)));
}

function shown(values: readonly number[], part: number): string {
  return values.length === 0 ? '–' : percentile(values, part).toFixed(0);
}
