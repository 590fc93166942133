import { startGateway } from './app/gateway.ts';
import { reduceFullCollections } from './app/node/garbageCollection.ts';
import { loadConfig, readEnvironment } from './app/settings/config.ts';
import { ConfigurationError } from './base/configurationError.ts';
import { isUnavailable } from './base/errors.ts';
import { OtherBuildError } from './infra/postgres/connection/migrate.ts';
import { WrongSecretsKeyError } from './infra/postgres/secrets/sealerFingerprint.ts';
import { createLogger, standardOutput } from './observability/logger.ts';
import { terminalOutput } from './observability/terminalOutput.ts';

/** The settings are invalid. @see sysexits(3) EX_CONFIG */
const EXIT_CONFIGURATION = 78;
/** Time after the drain for closing; the process exits afterwards. */
const GRACE_MILLISECONDS = 10_000;
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Where all processes of a service are signaled, as by systemd, their launcher forwards the signal once more. */
const SAME_SIGNAL_MILLISECONDS = 500;

// Before the first file: no other user of this machine may read what this process and its children write.
process.umask(0o077);
reduceFullCollections();
// At once: a thread or a socket that is still closing must not hold up a restart.
process.exit(await main());

async function main(): Promise<number> {
  let config: ReturnType<typeof loadConfig>;
  try {
    config = loadConfig(readEnvironment());
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(
      `Callway cannot start with these settings:\n${error.message.replace(/^/gm, '  ')}\n`,
    );
    return EXIT_CONFIGURATION;
  }
  const output = standardOutput();
  process.once('exit', () => output.flushSync());
  const logger = createLogger(config.LOG_LEVEL, process.stdout.isTTY ? terminalOutput(output) : output);
  const stopping = new AbortController();
  const stopRequested = stopSignal().then((signal) => {
    logger.info({ signal }, 'stopping');
    setTimeout(
      () => {
        logger.error('drain time exceeded, exiting with calls or requests running');
        process.exit(1);
      },
      config.DRAIN_SECONDS * 1000 + GRACE_MILLISECONDS,
    );
    stopping.abort(new Error(`${signal} during the start`));
  });
  try {
    const began = performance.now();
    const gateway = await startGateway(config, logger, stopping.signal);
    logger.info(
      {
        url: gateway.url,
        console: gateway.consoleUrl,
        startMs: Math.round(performance.now() - began),
      },
      'ready',
    );
    // Launchers wait for this line.
    logger.flush();
    await stopRequested;
    await gateway.retire();
    await gateway.stop();
    logger.info('stopped');
    return 0;
  } catch (error) {
    if (error === stopping.signal.reason) {
      logger.info('stopped');
      return 0;
    }
    const reason = reasonOf(error);
    const isConfiguration = isConfigurationError(error);
    logger.fatal(isConfiguration ? { reason } : { err: error }, 'start failed');
    process.stderr.write(`Callway cannot run: ${reason}\n`);
    return isConfiguration ? EXIT_CONFIGURATION : 1;
  }
}

/** @returns The message, with what a database or Redis that is unavailable has said. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return isUnavailable(error) && cause instanceof Error ? `${message} (${cause.message})` : message;
}

/** The first signal to stop. A second one, which is not the same sent twice, ends the process at once. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      resolve(signal);
      setTimeout(() => {
        for (const each of STOP_SIGNALS) process.off(each, stop);
      }, SAME_SIGNAL_MILLISECONDS).unref();
    };
    for (const signal of STOP_SIGNALS) process.on(signal, stop);
  });
}

/** Some invalid settings are detected during the start only. */
function isConfigurationError(error: unknown): boolean {
  return [ConfigurationError, WrongSecretsKeyError, OtherBuildError].some((kind) => error instanceof kind);
}
