import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readEnvironment } from '../app/settings/config.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../observability/logger.ts';
import { runDemo } from './demo.ts';
import { DemoError } from './demoError.ts';
import { createEnding, EXIT_INTERRUPTED, Interrupted } from './ending.ts';
import { type DemoOptions, HELP, readOptions } from './options.ts';
import { createScreen } from './screen.ts';

/** Much more than it takes, so that it is over for certain on a machine that is slow, or where something hangs. */
const LIMIT_MS = 180_000;
/** A person may let it ring, and talk. */
const REAL_CALL_LIMIT_MS = 420_000;
/** All is closed when main is over. */
const LEFTOVER_MS = 3000;

process.exitCode = await main();
// Whatever is left open by then is not worth waiting for.
setTimeout(() => process.exit(), LEFTOVER_MS).unref();

async function main(): Promise<number> {
  const environment = readEnvironment();
  const screen = createScreen({
    write: (text) => process.stdout.write(text),
    hasColour: process.stdout.isTTY === true && environment.NO_COLOR === undefined,
  });
  try {
    const options = readOptions(process.argv.slice(2), environment);
    if (!options) {
      process.stdout.write(HELP);
      return 0;
    }
    return await run(options, screen, environment);
  } catch (error) {
    if (!(error instanceof DemoError)) throw error;
    screen.failure(error.message);
    return 1;
  }
}

async function run(
  options: DemoOptions,
  screen: ReturnType<typeof createScreen>,
  environment: ReturnType<typeof readEnvironment>,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'callway-demo-'));
  const log = join(folder, 'callway.log');
  await mkdir(join(folder, 'data'));
  const logger = createLogger('info', pino.destination({ dest: log, sync: true }));
  const ending = createEnding({
    screen,
    dataFolder: join(folder, 'data'),
    keepsData: options.keep,
    log,
    monotonicMs: systemClock.monotonicMs,
    exit: (code) => process.exit(code),
  });
  const limitMs = options.call ? REAL_CALL_LIMIT_MS : LIMIT_MS;
  const limit = setTimeout(() => {
    ending.by(new DemoError(`Time is up: the demo takes less than ${limitMs / 1000} s where all is well.`));
  }, limitMs);
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      clearTimeout(limit);
      ending.by(new Interrupted());
    });
  }

  const onDone = async () => {
    clearTimeout(limit);
    if (!options.stay || ending.signal.aborted) return;
    screen.note('Serving until Ctrl-C.');
    await new Promise<void>((resolve) => {
      const keepAlive = setInterval(() => undefined, 60_000);
      ending.signal.addEventListener('abort', () => {
        clearInterval(keepAlive);
        resolve();
      });
    });
  };
  try {
    await runDemo(options, { screen, environment, folder, logger, signal: ending.signal, onDone });
    if (!options.keep) await Promise.all([join(folder, 'data'), log].map(remove));
    screen.title('Done.');
    return 0;
  } catch (error) {
    const reason = ending.signal.aborted ? ending.signal.reason : error;
    const isInterrupted = reason instanceof Interrupted;
    // Of what failed, the log tells why.
    if (!options.keep) await remove(isInterrupted ? folder : join(folder, 'data'));
    if (isInterrupted) return EXIT_INTERRUPTED;
    logger.error({ err: error }, 'the demo failed');
    screen.failure(
      `${reason instanceof Error ? reason.message : String(reason)}\n  The service's log: ${log}`,
    );
    return 1;
  } finally {
    clearTimeout(limit);
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
