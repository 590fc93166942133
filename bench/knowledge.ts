import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

/**
 * `npm run bench:knowledge`: the cost of a query beside its own SQL, recall, speed and memory of ingestion, and how often
 * the right passage ranks first.
 *
 * Each part runs in a process of its own, so that its memory is its own and a slow part can be ended: the embedded database
 * blocks its process while it builds an index.
 */
const PARTS = ['postgres', 'pglite', 'quality', 'ingestion'] as const;

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '20000' },
    only: { type: 'string' },
    minutes: { type: 'string', default: '15' },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log(
    `npm run bench:knowledge -- [--chunks N] [--only ${PARTS.join('|')}] [--minutes N, for each part]`,
  );
} else {
  const chunks = positive('chunks', values.chunks);
  const timeout = positive('minutes', values.minutes) * 60_000;
  for (const part of chosen(values.only)) runPart(part, chunks, timeout);
}

function chosen(only: string | undefined): readonly string[] {
  if (only === undefined) return PARTS;
  const found = PARTS.filter((part) => part === only);
  if (found.length === 0) throw new Error(`--only takes ${PARTS.join(', ')}; not ${only}`);
  return found;
}

function runPart(part: string, chunks: number, timeout: number): void {
  const file = new URL(`./knowledge/${part}.ts`, import.meta.url).pathname;
  const args = ['--import', 'tsx', file, String(chunks)];
  const { status, error } = spawnSync(process.execPath, args, { stdio: 'inherit', timeout });
  if (status === 0) return;
  const isLate = error && 'code' in error && error.code === 'ETIMEDOUT';
  console.error(
    isLate ? `${part}: not done in ${timeout / 60_000} minutes` : `${part}: ended with ${status}`,
  );
  process.exitCode = 1;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} takes a whole number from 1; not ${text}`);
  return value;
}
