import { randomBytes, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Dependency } from '../api/ports.ts';
import type { Clock } from '../base/clock.ts';
import type { Leases } from '../calls/nodes/leases.ts';
import type { NodeBus } from '../calls/nodes/nodeBus.ts';
import type { PhoneNumberStore } from '../calls/numbers/phoneNumberStore.ts';
import type { Telephony } from '../calls/telephony.ts';
import type { TrunkHealthStore } from '../calls/trunks/trunkHealth.ts';
import type { TrunkStore } from '../calls/trunks/trunkStore.ts';
import type { MediaEngine } from '../media/mediaSession.ts';
import { connectControl, type SipControl } from '../telephony/control/control.ts';
import { createTelephony } from '../telephony/telephony.ts';
import { type TraceSink, traceCall, traceFromControl } from '../telephony/trace.ts';
import { createTrunkDirectory } from '../telephony/trunks/directory.ts';
import { createTrunkMonitors, type TrunkMonitors } from '../telephony/trunks/monitors.ts';
import { resolveSipHost } from '../telephony/trunks/resolveHost.ts';
import type { Config } from './settings/config.ts';
import type { SipServerAccess } from './sipServer.ts';

export interface TelephonyParts {
  readonly config: Config;
  /** Closed with what works with it. */
  readonly server: SipServerAccess;
  readonly media: MediaEngine;
  readonly trunks: Pick<TrunkStore, 'active'>;
  readonly numbers: Pick<PhoneNumberStore, 'findByNumber'>;
  readonly traceSink: TraceSink;
  readonly leases: Leases;
  readonly board: Pick<TrunkHealthStore, 'publish'>;
  readonly bus: Pick<NodeBus, 'subscribe'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface BuiltTelephony {
  readonly telephony: Telephony;
  readonly trunkMonitors: TrunkMonitors;
  /** Where the embedded SIP server listens; undefined for a drachtio-server. */
  readonly sipPort: number | undefined;
  /** Resolves once requests can be sent and taken. */
  untilConnected(): Promise<void>;
  /** For `/readyz`. */
  readonly dependency: Dependency;
  /** Unregisters, disconnects, and ends the embedded SIP server. Calls are to be over before. Idempotent. */
  close(): Promise<void>;
}

/** Starts what works with the SIP server. */
export async function buildTelephony(parts: TelephonyParts): Promise<BuiltTelephony> {
  const { config, clock, server } = parts;
  const logger = parts.logger.child({ part: 'telephony' });
  const random = Math.random;
  const makeToken = () => randomBytes(8).toString('hex');
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);

  const directory = createTrunkDirectory({
    store: parts.trunks,
    bus: parts.bus,
    resolve: resolveSipHost,
    clock,
    onError,
  });
  await directory.start();
  server.trust(directory.trustedSources);
  directory.onChange(() => server.trust(directory.trustedSources));
  const control = connectControl({
    target: server.target,
    tag: `callway-${makeToken()}`,
    clock,
    random,
    onError,
  });
  control.events.on('connected', ({ endpoints, version }) =>
    logger.info({ endpoints, version }, 'SIP is up'),
  );
  control.events.on('disconnected', ({ reason }) => logger.warn({ reason }, 'SIP is down'));
  const tracing = {
    source: server.traces ?? traceFromControl(control),
    sink: parts.traceSink,
    clock,
    onError,
  };
  const telephony = createTelephony({
    control,
    clock,
    makeToken,
    makeCallId: randomUUID,
    onError,
    media: parts.media,
    traceCall: (sipCallId) => traceCall(tracing, sipCallId),
    mediaTimeoutMs: config.MEDIA_TIMEOUT_SECONDS * 1000,
    showsTrying: server.showsTrying,
    directory,
    numbers: parts.numbers,
  });
  const watchers = createTrunkMonitors({
    directory,
    leases: parts.leases,
    board: parts.board,
    control,
    clock,
    random,
    makeToken,
    onError,
  });
  watchers.start();

  let closing: Promise<void> | undefined;
  const close = async () => {
    await watchers.close();
    await directory.close();
    await control.close();
    await server.close();
  };
  return {
    telephony,
    trunkMonitors: watchers,
    sipPort: server.port,
    untilConnected: () => (control.isConnected ? Promise.resolve() : firstUp(control)),
    dependency: {
      name: 'sip',
      check: async () => {
        if (!control.isConnected) throw new Error('there is no connection to the SIP server');
      },
      isDown: () => !control.isConnected,
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function firstUp({ events }: Pick<SipControl, 'events'>): Promise<void> {
  return new Promise((resolve) => {
    const off = events.on('connected', () => {
      off();
      resolve();
    });
  });
}
