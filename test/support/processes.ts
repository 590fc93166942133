import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { type ExitStatus, startChild, waitUntilReady } from './child.ts';
import { reservePort } from './ports.ts';
import { makeTempDir } from './tempDir.ts';

/** Against a start that hangs. Starts beside a whole suite on two cores took 35 s; a test of the time measures it itself. */
const READY_TIMEOUT_MS = 90_000;
const PROBE_TIMEOUT_MS = 5000;
const TSX = import.meta.resolve('tsx');
const repository = fileURLToPath(new URL('../..', import.meta.url));

/** The tests load the machine that they share. */
export const NO_OVERLOAD = { OVERLOAD_EVENT_LOOP_MS: '0', OVERLOAD_RTP_MS: '0', OVERLOAD_QUEUE_MS: '0' };

/** The service in its own process. */
export interface ServiceProcess {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** Output lines of both streams; grows. */
  readonly lines: readonly string[];
  readonly ended: Promise<ExitStatus>;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<ExitStatus>;
  /** Sends SIGSTOP: its sockets stay open and get no answer. */
  suspend(): void;
  /** Sends SIGCONT. */
  resume(): void;
  /** Sends SIGKILL and waits for the exit. `dataDir` stays. */
  kill(): Promise<ExitStatus>;
  /** Kills it if it still runs, and removes the folder if it was created here; idempotent. */
  close(): Promise<void>;
}

export interface ServiceOptions {
  /** Settings added to the test defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** Source or built file, relative to the repository. Default: the build of this test run. */
  readonly entry?: string;
  /** Data folder of an earlier process; default: an empty folder. */
  readonly dataDir?: string;
}

/**
 * Starts the service on free ports and an empty folder and waits until `GET /readyz` answers 200.
 * It inherits no settings from the environment of the tests.
 *
 * @throws When it exits early or is not ready in time; the message has its last lines.
 */
export async function startService(options: ServiceOptions = {}): Promise<ServiceProcess> {
  const { env = {}, entry, dataDir } = options;
  const ownFolder = dataDir === undefined ? makeTempDir() : undefined;
  const [port, sipPort] = await Promise.all([reservePort(), reservePort()]);
  const settings = {
    PORT: String(port),
    HOST: '127.0.0.1',
    SIP_PORT: String(sipPort),
    DATA_DIR: dataDir ?? ownFolder?.path ?? '',
    ...NO_OVERLOAD,
    ...env,
  };
  const child = await startChild(process.execPath, serviceCommand(entry), {
    cwd: settings.DATA_DIR, // where no .env of a developer lies
    env: { ...inheritedEnvironment(), ...settings },
  });
  const url = `http://127.0.0.1:${settings.PORT}`;
  const close = async () => {
    child.kill('SIGKILL');
    await child.ended;
    ownFolder?.remove();
  };
  try {
    await waitUntilReady('The service', child, () => isReady(url), READY_TIMEOUT_MS);
  } catch (error) {
    await close();
    throw error;
  }
  const endBy = (signal: 'SIGTERM' | 'SIGKILL') => () => {
    child.kill(signal);
    return child.ended;
  };
  return {
    url,
    pid: child.pid,
    dataDir: settings.DATA_DIR,
    lines: child.lines,
    ended: child.ended,
    suspend: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    stop: endBy('SIGTERM'),
    kill: endBy('SIGKILL'),
    close,
  };
}

/** Arguments of Node that run the service. @param entry - See {@link ServiceOptions}. */
export function serviceCommand(entry: string = inject('serviceEntry')): string[] {
  const loader = entry.endsWith('.ts') ? ['--import', TSX] : [];
  return [...loader, resolve(repository, entry)];
}

/** Environment that any program needs. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_EXTRA_CA_CERTS'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false; // not listening yet: the caller polls until its timeout
  }
}
