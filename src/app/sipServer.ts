import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';

import { type EmbeddedSipServer, startEmbeddedSipServer } from '../../sip/embed.ts';
import type { SipServerStats } from '../../sip/server.ts';
import type { Clock } from '../base/clock.ts';
import { backoffMs } from '../telephony/backoff.ts';
import type { ControlTarget } from '../telephony/control/connection.ts';
import type { TraceSource } from '../telephony/trace.ts';
import type { Closers } from './conversation.ts';
import type { Config } from './settings/config.ts';

/** A SIP server to connect to, whether ours or another's. */
export interface SipServerAccess {
  /** Undefined while there is none. */
  target(): ControlTarget | undefined;
  /** Ours shows every message of a call; of another's we know what it tells applications. */
  readonly traces: TraceSource | undefined;
  readonly showsTrying: boolean;
  /** Where ours listens for UDP and TCP; another's is not known here. */
  readonly port: number | undefined;
  /** Never limits or bans these sources from now on. */
  trust(sources: readonly string[]): void;
  /** Counters and gauges of ours, by name; undefined while there is none, and of another's. */
  stats(): Promise<SipServerStats | undefined>;
  /** Idempotent. */
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const DEFAULT_DRACHTIO_PORT = 9022;
/** Of one source that is no trunk's port; a carrier that calls from other ports than it listens on stays below it. */
const CALLS_OF_STRANGERS = { callsPerSecond: 100, callBurst: 200 };
/** What this process takes up within a second: who comes after hears 503 at once, and not ours too late. */
const MAX_WAITING_CALLS = 200;
const RESTART_BACKOFF = { firstMs: 200, maxMs: 10_000 };

/**
 * The SIP server of the settings, or one of our own.
 *
 * @throws {Error} When our own cannot be started: a port is taken, a certificate cannot be read.
 */
export async function openSipServer(parts: SipServerParts, closers: Closers): Promise<SipServerAccess> {
  const { DRACHTIO_URL } = parts.config;
  const server = DRACHTIO_URL ? externalSipServer(DRACHTIO_URL) : await embeddedSipServer(parts);
  closers.push(() => server.close());
  return server;
}

/** The drachtio-server of the settings, which is connected to and left alone. */
function externalSipServer(url: string): SipServerAccess {
  const { hostname, port, password } = new URL(url);
  const target = {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? DEFAULT_DRACHTIO_PORT : Number(port),
    secret: decodeURIComponent(password),
  };
  return {
    target: () => target,
    traces: undefined,
    showsTrying: false,
    port: undefined,
    trust: () => undefined,
    stats: async () => undefined,
    close: async () => undefined,
  };
}

export interface SipServerParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Runs our own SIP server in a thread, and starts it anew when the thread dies: on the same SIP port, since that is
 * where carriers send calls.
 *
 * @throws {Error} When it cannot be started the first time: a port is taken, a certificate cannot be read.
 */
async function embeddedSipServer(parts: SipServerParts): Promise<SipServerAccess> {
  const { config, clock } = parts;
  const logger = parts.logger.child({ part: 'telephony' });
  const secret = randomBytes(24).toString('base64url');
  const options = serverOptions(parts, secret);
  let trusted: readonly string[] = [];
  let server: EmbeddedSipServer | undefined = await startEmbeddedSipServer(options);
  const sipPort = server.sipPorts.find(({ transport }) => transport === 'udp')?.port ?? config.SIP_PORT;
  const followers = new Set<{ stop: () => void; again: (next: EmbeddedSipServer) => void }>();
  let isClosed = false;
  let stopWaiting: () => void = () => undefined;
  logger.info({ endpoints: server.sipPorts }, 'the SIP server listens');

  const wait = (delayMs: number) =>
    new Promise<void>((resolve) => {
      const timer = clock.setTimer(resolve, delayMs);
      stopWaiting = () => {
        timer.cancel();
        resolve();
      };
    });
  const startAgain = async () => {
    for (let failures = 1; !server && !isClosed; failures += 1) {
      await wait(backoffMs(RESTART_BACKOFF, failures, Math.random()));
      if (isClosed) return;
      server = await startEmbeddedSipServer({ ...options, port: sipPort, trusted }).catch(
        (error: unknown) => {
          logger.error({ err: error }, 'the SIP server could not be started');
          return undefined;
        },
      );
    }
  };
  const keep = async () => {
    while (server && !isClosed) {
      const reason = await Promise.race([server.lost, closed]);
      if (reason === undefined) return;
      server = undefined;
      logger.error({ err: reason }, 'the SIP server died and is started anew');
      await startAgain();
      for (const follower of followers) if (server) follower.again(server);
    }
  };
  let announceClosed: () => void = () => undefined;
  const closed = new Promise<undefined>((resolve) => {
    announceClosed = () => resolve(undefined);
  });
  const keeping = keep();

  return {
    target: () => (server ? { host: LOOPBACK, port: server.controlPort, secret } : undefined),
    showsTrying: true,
    port: sipPort,
    trust(sources) {
      trusted = sources;
      server?.trust(sources);
    },
    // One that dies while it is asked has nothing to say.
    stats: async () => await server?.stats().catch(() => undefined),
    traces: {
      follow(sipCallId, listener) {
        const begin = (one: EmbeddedSipServer) =>
          one.trace(sipCallId, (entries) =>
            listener(
              entries.map(({ atMs, direction, transport, remote, text }) => ({
                at: new Date(atMs).toISOString(),
                direction,
                transport,
                remote,
                text,
              })),
            ),
          );
        const follower = {
          stop: server ? begin(server) : () => undefined,
          again(next: EmbeddedSipServer) {
            follower.stop = begin(next);
          },
        };
        followers.add(follower);
        return () => {
          followers.delete(follower);
          follower.stop();
        };
      },
    },
    async close() {
      isClosed = true;
      stopWaiting();
      announceClosed();
      await keeping;
      await server?.close();
    },
  };
}

function serverOptions({ config }: SipServerParts, secret: string) {
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file, 'utf8'));
  return {
    host: config.SIP_HOST,
    port: config.SIP_PORT,
    ...(config.SIP_TLS_PORT === undefined ? {} : { tlsPort: config.SIP_TLS_PORT }),
    ...(config.PUBLIC_IP === undefined ? {} : { publicAddress: config.PUBLIC_IP }),
    tls: {
      cert: read(config.SIP_TLS_CERT_FILE),
      key: read(config.SIP_TLS_KEY_FILE),
      ca: read(config.SIP_TLS_CA_FILE),
      verify: config.SIP_TLS_VERIFY,
    },
    control: { host: LOOPBACK, port: 0, secret },
    guard: CALLS_OF_STRANGERS,
    maxWaitingCalls: MAX_WAITING_CALLS,
    showTrying: true,
  };
}
