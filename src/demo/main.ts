import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readEnvironment } from '../app/settings/config.ts';
import { systemClock } from '../base/values/clock.ts';
import { createLogger } from '../observability/logger.ts';
import { runDemo } from './demo.ts';
import { DemoError } from './demoError.ts';
import { type DemoOptions, HELP, readOptions } from './options.ts';
import { createScreen } from './screen.ts';
import { createShutdown, EXIT_INTERRUPTED, Interrupted } from './shutdown.ts';

/** Far more than the demo takes; ends it on a slow machine or when something hangs. */
const LIMIT_MS = 180_000;
/** A real callee needs time to answer and to talk. */
const REAL_CALL_LIMIT_MS = 420_000;
/** Everything is closed when main returns. */
const LEFTOVER_MS = 3000;

process.exitCode = await main();
// Exits even if something was left open.
setTimeout(() => process.exit(), LEFTOVER_MS).unref();

function write(text: string): void {
  process.stdout.write(text);
}

async function main(): Promise<number> {
  const environment = readEnvironment();
  const screen = createScreen({
    write,
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
  const shutdown = createShutdown({
    screen,
    dataFolder: join(folder, 'data'),
    keepsData: options.keep,
    log,
    monotonicMs: systemClock.monotonicMs,
    exit: (code) => process.exit(code),
  });
  const limitMs = options.call ? REAL_CALL_LIMIT_MS : LIMIT_MS;
  const limit = setTimeout(() => {
    shutdown.start(new DemoError(`The demo did not finish within ${limitMs / 1000} s.`));
  }, limitMs);
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      clearTimeout(limit);
      shutdown.start(new Interrupted());
    });
  }

  const onDone = async () => {
    clearTimeout(limit);
    if (!options.stay || shutdown.signal.aborted) return;
    screen.note('Serving until Ctrl-C.');
    await new Promise<void>((resolve) => {
      const keepAlive = setInterval(() => undefined, 60_000);
      shutdown.signal.addEventListener('abort', () => {
        clearInterval(keepAlive);
        resolve();
      });
    });
  };
  try {
    await runDemo(options, { screen, write, environment, folder, logger, signal: shutdown.signal, onDone });
    if (!options.keep) await Promise.all([join(folder, 'data'), log].map(remove));
    screen.title('Done.');
    return 0;
  } catch (error) {
    const reason = shutdown.signal.aborted ? shutdown.signal.reason : error;
    const isInterrupted = reason instanceof Interrupted;
    // After a failure the log is kept.
    if (!options.keep) await remove(isInterrupted ? folder : join(folder, 'data'));
    if (isInterrupted) return EXIT_INTERRUPTED;
    logger.error({ err: error }, 'demo failed');
    screen.failure(
      `${reason instanceof Error ? reason.message : String(reason)}\n  Log of the service: ${log}`,
    );
    return 1;
  } finally {
    clearTimeout(limit);
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
