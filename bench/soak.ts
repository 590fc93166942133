import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { freshBuild } from '../scripts/lib/serviceBuild.mjs';
import { createClient } from '../test/support/gateway.ts';
import { startService } from '../test/support/processes.ts';
import { driftOf, FIGURES, type FigureName, type Sample } from './soak/drift.ts';
import { type Load, startLoad } from './soak/load.ts';
import { numbersOf } from './soak/numbers.ts';
import { draw } from './soak/picture.ts';
import { percentile } from './support/statistics.ts';

/**
 * `npm run soak`: the service with all parts embedded, under chats, calls and documents for a while. Memory, descriptors,
 * event-loop delay and answers are measured per interval; each figure's drift is its least-squares line, and the curves
 * are drawn. Exits with 1 when a figure grows beyond its limit, or anything failed.
 */
const MOST_SAMPLES = 60;
const SHORTEST_INTERVAL_SECONDS = 2;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    calls: { type: 'string', default: '4' },
    chats: { type: 'string', default: '3' },
    svg: { type: 'string', default: 'soak.svg' },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log('npm run soak -- [--minutes N] [--calls N] [--chats N] [--svg FILE]');
} else {
  await soak(positive('minutes', values.minutes), {
    calls: positive('calls', values.calls),
    chats: positive('chats', values.chats),
  });
}

async function soak(
  minutes: number,
  size: { readonly calls: number; readonly chats: number },
): Promise<void> {
  const entry = await freshBuild();
  if (entry === undefined) throw new Error('the service could not be built: npm run build tells why');
  const env = { MEDIA_WORKERS: '1', RATE_LIMIT_PER_MINUTE: '1000000', LOG_LEVEL: 'warn' };
  const service = await startService({ entry, env });
  try {
    const token = readFileSync(join(service.dataDir, 'admin-token'), 'utf8').trim();
    const load = await startLoad(await createClient(service.url, token), size);
    const samples = await watch(service.url, load, minutes);
    await load.stop();
    tell(samples, load, minutes);
    await service.stop();
  } finally {
    await service.close();
  }
}

async function watch(url: string, load: Load, minutes: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const intervalMs = Math.max(SHORTEST_INTERVAL_SECONDS, (minutes * 60) / MOST_SAMPLES) * 1000;
  const beganMs = performance.now();
  const passed = () => (performance.now() - beganMs) / 60_000;
  while (passed() < minutes) {
    await sleep(intervalMs);
    const { chatMs, turnMs } = load.take();
    samples.push({
      atMinutes: passed(),
      ...(await numbersOf(url)),
      load: loadavg()[0] ?? 0,
      ...(chatMs.length > 0 && { chatP50: percentile(chatMs, 0.5), chatP95: percentile(chatMs, 0.95) }),
      ...(turnMs.length > 0 && { turnP50: percentile(turnMs, 0.5), turnP95: percentile(turnMs, 0.95) }),
    });
  }
  return samples;
}

function tell(samples: readonly Sample[], { done, failures }: Load, minutes: number): void {
  const title = `${minutes} min: ${done.chats} chats, ${done.calls} calls, ${done.documents} documents`;
  console.log(`${title}; ${failures.length} failures, ${samples.length} samples\n`);
  let isBeyond = failures.length > 0;
  for (const name of Object.keys(FIGURES) as FigureName[]) {
    const { name: label, unit, mayGrowBy, noise } = FIGURES[name];
    const drift = driftOf(samples, name);
    isBeyond ||= drift?.isBeyond === true;
    const limit = Number.isFinite(mayGrowBy)
      ? `may grow by ${Math.round(mayGrowBy * 100)} % or ${noise}`
      : 'told, not judged';
    const seen = drift ? `${drift.from.toFixed(1)} to ${drift.to.toFixed(1)} ${unit}` : 'too few samples';
    console.log(
      `${label.padEnd(32)} ${seen.padEnd(24)} ${limit.padEnd(28)} ${drift?.isBeyond ? 'BEYOND' : 'ok'}`,
    );
  }
  for (const failure of new Set(failures)) console.log(`failed: ${failure}`);
  writeFileSync(values.svg, draw(samples, title));
  console.log(`\nThe curves are in ${values.svg}.`);
  if (isBeyond) process.exitCode = 1;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} takes a number above 0; not ${text}`);
  return value;
}
