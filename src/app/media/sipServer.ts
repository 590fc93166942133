import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';

import type { SipServerOptions } from '../../../sip/options.ts';
import { SupervisedSipServer } from '../../../sip/supervised.ts';
import {
  externalSipServer,
  type RefusedInvite,
  type SipServerAccess,
} from '../../telephony/control/sipServer.ts';
import { traceFromServer } from '../../telephony/trace.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { namingPortSettings } from '../node/portErrors.ts';
import type { Config } from '../settings/config.ts';

export interface SipServerParts {
  readonly config: Config;
  readonly logger: Logger;
  /** The clock of the traced messages; default: the system's. */
  readonly clock?: { fromSystem(systemMs: number): number };
}

const LOOPBACK = '127.0.0.1';
/** Limits for one source that is not a trunk's own port; a carrier that calls from other ports stays below them. */
const UNTRUSTED_LIMITS = { callsPerSecond: 100, callBurst: 200 };
/**
 * The most waiting calls: as many as this process accepts within a second. Callers beyond it get 503 at once instead of
 * a late answer.
 */
const MAX_WAITING_CALLS = 200;

/**
 * Starts the embedded SIP server, or uses the drachtio-server of the settings.
 *
 * @throws {Error} When the embedded server cannot be started: a port is in use, a certificate cannot be read.
 */
export async function openSipServer(
  { config, logger, clock }: SipServerParts,
  lifecycle: Lifecycle,
): Promise<SipServerAccess> {
  const server = config.DRACHTIO_URL
    ? externalSipServer(config.DRACHTIO_URL)
    : await embeddedSipServer(config, logger.child({ part: 'telephony' }), clock);
  lifecycle.onClose(() => server.close());
  return server;
}

async function embeddedSipServer(
  config: Config,
  logger: Logger,
  clock: SipServerParts['clock'],
): Promise<SipServerAccess> {
  const secret = randomBytes(24).toString('base64url');
  let hearRefused: (refused: readonly RefusedInvite[]) => void = () => undefined;
  const starting = SupervisedSipServer.start(sipServerOptions(config, secret), {
    onCrash: (error) => logger.error({ err: error }, 'SIP server crashed; restarting'),
    onRestartFailed: (error) => logger.error({ err: error }, 'SIP server restart failed'),
    onRefused: (refused) => hearRefused(refused),
  });
  const { SIP_PORT, SIP_TLS_PORT } = config;
  const server = await namingPortSettings({ host: 'SIP_HOST', ports: { SIP_PORT, SIP_TLS_PORT } }, starting);
  logger.info({ endpoints: server.sipPorts }, 'SIP server listening');
  return {
    target: () =>
      server.controlPort === undefined ? undefined : { host: LOOPBACK, port: server.controlPort, secret },
    traces: traceFromServer(server, (atMs) => clock?.fromSystem(atMs) ?? atMs),
    showsTrying: true,
    checksTargets: true,
    port: server.sipPort,
    setKnownPeers: (peers) => server.setKnownPeers(peers),
    onRefused(listener) {
      hearRefused = listener;
    },
    stats: () => server.stats(),
    close: () => server.close(),
  };
}

/** @param secret - The secret of the control connection. */
export function sipServerOptions(config: Config, secret: string): SipServerOptions {
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file, 'utf8'));
  return {
    host: config.SIP_HOST,
    port: config.SIP_PORT,
    tlsPort: config.SIP_TLS_PORT,
    publicAddress: config.PUBLIC_IP,
    tls: {
      cert: read(config.SIP_TLS_CERT_FILE),
      key: read(config.SIP_TLS_KEY_FILE),
      ca: read(config.SIP_TLS_CA_FILE),
      verify: config.SIP_TLS_VERIFY,
    },
    control: { host: LOOPBACK, port: 0, secret },
    publicTargetsOnly: !config.ALLOW_PRIVATE_TRUNKS,
    guard: UNTRUSTED_LIMITS,
    maxWaitingCalls: MAX_WAITING_CALLS,
    showTrying: true,
  };
}
