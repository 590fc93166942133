import { randomBytes, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Dependency } from '../../api/ports.ts';
import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { DialogStore } from '../../calls/dialogStore.ts';
import type { Leases } from '../../calls/nodes/leases.ts';
import type { NodeBus } from '../../calls/nodes/nodeBus.ts';
import type { Telephony } from '../../calls/telephony.ts';
import type { TrunkHealthStore } from '../../calls/trunks/trunkHealth.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { MediaEngine } from '../../media/mediaSession.ts';
import { connectControl, type SipControl, untilConnected } from '../../telephony/control/control.ts';
import { publicTargetsOnly } from '../../telephony/control/publicTargets.ts';
import type { KnownPeer, SipServerAccess } from '../../telephony/control/sipServer.ts';
import { DialogRecords } from '../../telephony/leg/dialogRecord.ts';
import { endLostDialogs } from '../../telephony/leg/lostDialogs.ts';
import { createHostResolver } from '../../telephony/sdp/hosts.ts';
import { createTelephony } from '../../telephony/telephony.ts';
import { type TraceSink, traceCall, traceFromControl } from '../../telephony/trace.ts';
import type { TrunkDirectoryDeps } from '../../telephony/trunks/directory.ts';
import { resolveSipHost, TrunkDirectory } from '../../telephony/trunks/directory.ts';
import { InboundRejections, type InboundRejectionsDeps } from '../../telephony/trunks/inboundRejections.ts';
import type { InboundRouteDeps } from '../../telephony/trunks/inboundRoute.ts';
import { TrunkMonitors, type TrunkMonitorsDeps } from '../../telephony/trunks/monitors.ts';
import type { TestCalls } from '../../telephony/trunks/testCalls.ts';
import type { Config } from '../settings/config.ts';

/** A database that is away must not hold up the stop; the dialogs it keeps are ended already. */
const DIALOGS_STORED_MS = 2_000;

export interface TelephonyParts {
  readonly config: Config;
  /** Closed with the telephony. */
  readonly server: SipServerAccess;
  readonly media: MediaEngine;
  readonly stores: {
    readonly trunks: TrunkDirectoryDeps['store'];
    readonly phoneNumbers: InboundRouteDeps['numbers'];
    readonly sipTraces: TraceSink;
    readonly dialogs: DialogStore;
  };
  readonly leases: Leases;
  readonly board: TrunkHealthStore;
  /** Records rejected inbound calls; undefined in the simulator. */
  readonly rejections?: Pick<InboundRejectionsDeps, 'store' | 'metrics'>;
  /** Publishes live events; undefined in the simulator. */
  readonly liveEvents?: LiveEvents;
  readonly bus: NodeBus;
  /** The expected test calls; undefined where no simulated callers call. */
  readonly testCalls?: TestCalls | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface BuiltTelephony {
  readonly telephony: Telephony;
  readonly trunkMonitors: TrunkMonitors;
  /** The port of the embedded SIP server; undefined for a drachtio-server. */
  readonly sipPort: number | undefined;
  /** Resolves once the SIP server is connected. */
  untilConnected(): Promise<void>;
  /** Sets the peers that are known besides the trunks; replaces the earlier ones. */
  setKnownPeers(peers: readonly KnownPeer[]): void;
  /** The state that `/readyz` reports. */
  readonly dependency: Dependency;
  /** Unregisters the trunks, disconnects, and stops the embedded SIP server. To be called after the last call. Idempotent. */
  close(): Promise<void>;
}

/** Connects to the SIP server and starts to monitor the trunks. */
export async function buildTelephony(parts: TelephonyParts): Promise<BuiltTelephony> {
  const { config, clock, server, stores } = parts;
  const logger = parts.logger.child({ part: 'telephony' });
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const common = { clock, onError, random: Math.random, makeToken: () => randomBytes(8).toString('hex') };

  const { bus } = parts;
  const directory = new TrunkDirectory({ ...common, store: stores.trunks, bus, resolve: resolveSipHost });
  await directory.start();
  let others: readonly KnownPeer[] = [];
  const updatePeers = () => server.setKnownPeers([...directory.peers, ...others]);
  updatePeers();
  directory.onChange(updatePeers);
  const connected = connectControl({
    ...common,
    target: server.target,
    tag: `callway-${common.makeToken()}`,
  });
  const isPrivatePeer = (address: string) => directory.isPrivatePeer(address);
  const control =
    server.checksTargets || config.ALLOW_PRIVATE_TRUNKS
      ? connected
      : publicTargetsOnly(connected, { resolve: resolveSipHost, isPrivatePeer });
  logConnection(control, logger);
  const tracing = { ...common, source: server.traces ?? traceFromControl(control), sink: stores.sipTraces };
  const dialogs = new DialogRecords({ store: stores.dialogs, clock, onError });
  const routing = { numbers: stores.phoneNumbers, takesPendingClaims: config.NUMBER_OWNERSHIP === 'open' };
  const log = (fields: object, message: string) => logger.warn(fields, message);
  const rejections =
    parts.rejections && new InboundRejections({ ...common, ...routing, ...parts.rejections, directory, log });
  if (rejections) server.onRefused(rejections.reportFromServer);
  const telephony = createTelephony({
    ...common,
    ...routing,
    rejections,
    dialogs,
    control,
    directory,
    makeCallId: randomUUID,
    resolveHost: createHostResolver(clock),
    media: parts.media,
    traceCall: (sipCallId) => traceCall(tracing, sipCallId),
    mediaTimeoutMs: config.MEDIA_TIMEOUT_SECONDS * 1000,
    serviceRoute: async (trunkId) => (await parts.board.read([trunkId])).get(trunkId)?.serviceRoute ?? [],
    showsTrying: server.showsTrying,
    testCalls: parts.testCalls,
  });
  const trunkMonitors = startTrunkMonitors(parts, { ...common, directory, control }, logger);
  const stopEndingLostDialogs = endLostDialogs({
    ...common,
    store: stores.dialogs,
    control,
    directory,
    onEnded: ({ callId }, status) => logger.info({ callId, status }, 'BYE sent for a call of a failed node'),
  });

  let closing: Promise<void> | undefined;
  const close = async () => {
    await stopEndingLostDialogs();
    await withTimeout(clock, dialogs.settled(), DIALOGS_STORED_MS);
    await trunkMonitors.close();
    await directory.close();
    rejections?.close();
    await control.close();
    await server.close();
  };
  return {
    telephony,
    trunkMonitors,
    sipPort: server.port,
    untilConnected: () => untilConnected(control),
    setKnownPeers(peers) {
      others = peers;
      updatePeers();
    },
    dependency: sipDependency(control),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function startTrunkMonitors(
  { config, leases, board, liveEvents }: TelephonyParts,
  deps: Pick<TrunkMonitorsDeps, 'clock' | 'onError' | 'random' | 'makeToken' | 'directory' | 'control'>,
  logger: Logger,
): TrunkMonitors {
  const trunkMonitors = new TrunkMonitors({
    ...deps,
    leases,
    board,
    onHealthChange: ({ id: trunkId, projectId }, health) =>
      liveEvents?.publish({
        type: 'trunk.changed',
        projectId,
        data: { trunkId, change: 'health', health },
      }),
    onFailure: ({ id: trunkId, projectId }, reason) =>
      logger.warn({ trunkId, projectId, reason }, 'trunk check failed'),
    hidesPrivateHosts: !config.ALLOW_PRIVATE_TRUNKS,
    onRegistered: ({ id: trunkId, projectId }) => logger.info({ trunkId, projectId }, 'trunk registered'),
  });
  trunkMonitors.start();
  return trunkMonitors;
}

function logConnection({ events }: SipControl, logger: Logger): void {
  events.on('connected', ({ endpoints, version }) =>
    logger.info({ endpoints, version }, 'SIP server connected'),
  );
  events.on('disconnected', ({ reason }) => logger.warn({ reason }, 'SIP server disconnected'));
}

function sipDependency(control: SipControl): Dependency {
  return {
    name: 'sip',
    check: async () => {
      if (!control.isConnected) throw new Error('there is no connection to the SIP server');
    },
    isDown: () => !control.isConnected,
  };
}
