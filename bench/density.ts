/**
 * How many calls a core carries, in three steps: media alone, with voice, with a scripted model.
 *
 *   npm run bench:density [-- --calls 10,25,50,100 --seconds 10 --only media,voice,model --embedded --svg density.svg]
 *
 * The product runs in a process of its own, as in `bench:calls`, and calls are added at ten a second up to each of the
 * given numbers. When the node refuses a call, as many again are offered, and the calls in progress are measured once
 * more: their MOS and latency must stay within 10 %, else the exit code is 1. The machine's own speed stands beside the
 * figures. Takes about a minute a step.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { startInstallation } from './calls/installation.ts';
import { recordedWords } from './calls/utterance.ts';
import { openStores } from './chat/stores.ts';
import { calibrate } from './density/calibration.ts';
import { drawDensity, type Measured } from './density/picture.ts';
import { type Plateau, ramp } from './density/ramp.ts';
import { densitySteps, type Step, startEchoBot } from './density/steps.ts';
import { compileProgram } from './support/compile.ts';
import { percentile } from './support/statistics.ts';

const MOST_CALLS = 1_000;
/** Of MOS and latency, when twice the capacity is offered. */
const TOLERANCE = 0.1;

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '10,25,50,100' },
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: 'media,voice,model' },
    embedded: { type: 'boolean', default: false },
    svg: { type: 'string', default: 'density.svg' },
  },
});
const numbers = options.calls.split(',').map(Number);
if (!numbers.every((calls, n) => calls > (numbers[n - 1] ?? 0) && calls <= MOST_CALLS))
  throw new Error(`--calls are rising numbers up to ${MOST_CALLS}, such as 10,25,50`);

const machine = calibrate();
const program = await compileProgram('chat/child.ts');
const stores = await openStores(options.embedded);
const bot = await startEchoBot();
const utterance = await recordedWords('I would like to know a little more about that.');
const measured: Measured[] = [];
try {
  for (const step of densitySteps(utterance, bot.url)) {
    if (options.only.split(',').includes(step.name)) measured.push({ step, plateaus: await measure(step) });
  }
} finally {
  bot.close();
  await stores.close();
}

const { model, cores, load, framesPerSecond, hashesPerSecond } = machine;
const title = `Calls by step: ${model}, ${cores} cores, Node ${process.version}`;
console.log(title);
console.log(
  `One core: ${framesPerSecond} frames of G.711 a second in JavaScript, ${hashesPerSecond} SHA-256 of 64 KiB; load before: ${load.toFixed(1)}.`,
);
console.log(`The product ran on ${stores.title}.`);
for (const { step } of measured) console.log(`${step.name}: ${step.what}`);
console.log(
  table([
    [
      ...['step', 'calls', 'refused', 'CPU % a call', 'calls a core', 'per 1M frames'],
      ...['MB a call', 'RTP late p99 ms', 'MOS', 'heard p50 ms', 'p95'],
    ],
    ...measured.flatMap(({ step, plateaus }) => plateaus.map((plateau) => rowOf(step, plateau))),
  ]),
);
writeFileSync(options.svg, drawDensity(measured, title));
console.log(`The curves are in ${options.svg}.`);
for (const { step, plateaus } of measured) {
  const [full, offeredTwice] = plateaus.slice(-2);
  if (full && offeredTwice && full.refused > 0) judge(step, full, offeredTwice);
}

async function measure(step: Step): Promise<Plateau[]> {
  const stand = await startInstallation({
    program,
    stores,
    utterance,
    hasRoles: false,
    refusesOverload: true,
    profileFolder: undefined,
    ...step,
  });
  try {
    return await ramp({ stand, order: step.order, steps: numbers, seconds: Number(options.seconds) });
  } finally {
    await stand.close();
  }
}

function rowOf({ name }: Step, { calls, refused, cpuPercent, megabytes, rtpP99Ms, mos, heardMs }: Plateau) {
  const perCore = 100 / cpuPercent;
  return [
    ...[name, String(calls), String(refused), cpuPercent.toFixed(2), perCore.toFixed(0)],
    ((perCore * 1e6) / framesPerSecond).toFixed(0),
    ...[megabytes.toFixed(2), rtpP99Ms.toFixed(2), mos?.toFixed(2) ?? '–'],
    ...[0.5, 0.95].map((part) => (heardMs.length === 0 ? '–' : percentile(heardMs, part).toFixed(0))),
  ];
}

/** Whether the calls in progress were protected. */
function judge({ name }: Step, full: Plateau, offeredTwice: Plateau): void {
  const heard = ({ heardMs }: Plateau) => (heardMs.length === 0 ? undefined : percentile(heardMs, 0.5));
  const mosKept = (offeredTwice.mos ?? 0) >= (1 - TOLERANCE) * (full.mos ?? 0);
  const heardKept = (heard(offeredTwice) ?? 0) <= (1 + TOLERANCE) * (heard(full) ?? Number.POSITIVE_INFINITY);
  const verdict = mosKept && heardKept ? 'kept' : 'NOT kept';
  console.log(
    `${name}: offered twice its ${full.calls} calls, the node refused ${offeredTwice.refused}; MOS and latency of those in progress were ${verdict} within 10 %.`,
  );
  if (!mosKept || !heardKept) process.exitCode = 1;
}
