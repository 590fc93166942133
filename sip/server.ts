import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Clock, createSystemClock } from './clock.ts';
import { createCommands } from './control/commands.ts';
import { type Core, defaultControlTimes } from './control/core.ts';
import { createDialogTable } from './control/dialogs/dialogTable.ts';
import { createApplications } from './control/protocol/applications.ts';
import { serveApplication } from './control/protocol/connection.ts';
import {
  closeProxiedDialogs,
  createProxiedDialogs,
  type ProxiedDialogs,
} from './control/proxy/recordRoute.ts';
import { createIncomingRequestTable, createOutgoingRequestTable } from './control/requestTables.ts';
import {
  announceCdr,
  closeCore,
  onApplicationDisconnected,
  onApplicationExpired,
  terminateCalls,
} from './control/shutdown.ts';
import { createTcpUpgrade } from './control/uac/tcpUpgrade.ts';
import { onAck, onRequest } from './control/uas/receive.ts';
import { createScannerCheck, mayAccept, rejectUnparsable } from './control/uas/reject.ts';
import { createIds } from './ids.ts';
import type { SipServerOptions, SipServerWorld } from './options.ts';
import * as defaults from './options.ts';
import type { ObserveRefusal } from './refusals.ts';
import { type Counters, createCounters } from './stats.ts';
import { TransactionLayer } from './transaction/layer.ts';
import { DEFAULT_SIP_TIMES } from './transaction/machine.ts';
import { defaultConnectionTimes } from './transport/connection.ts';
import { defaultGuard, type KnownPeer } from './transport/guard.ts';
import {
  type ListenOn,
  openTransports,
  type TransportLayer,
  type TransportOptions,
} from './transport/layer.ts';
import { publicTargetsOnly } from './transport/publicTargets.ts';
import { createTargetResolver, systemDns } from './transport/resolver.ts';
import type { Endpoint, TracedMessage } from './transport/types.ts';

/** Counters since the start, and gauges (`now.…`), by name. */
export type SipServerStats = Readonly<Record<string, number>>;

export interface SipServer {
  /** The bound ports. */
  readonly sipPorts: readonly Endpoint[];
  readonly controlPort: number;
  stats(): SipServerStats;
  /** Replaces the peers with a budget of their own. @throws {RangeError} For an invalid source. */
  setKnownPeers(peers: readonly KnownPeer[]): void;
  /** Terminates all calls, then closes all sockets. Idempotent. */
  close(): Promise<void>;
}

/** Observers of a server. */
export interface SipServerHooks {
  /** Receives each message, received or sent. */
  readonly onMessage?: (message: TracedMessage) => void;
  /** The server has rejected a request by itself. */
  readonly onRefused?: ObserveRefusal;
  /** An application's command has arrived and is carried out next. */
  readonly onCommand?: () => void;
  /** An internal error while a message was handled; the server continues. */
  readonly onInternalError?: (error: unknown) => void;
}

/** Unauthenticated control connections are closed after this time. */
const AUTHENTICATE_MS = 10_000;
/**
 * Starts a SIP server that applications control by drachtio's protocol.
 *
 * @throws {Error} When an address cannot be bound, TLS lacks its key or certificate, or the secret is empty.
 */
export async function startSipServer(
  options: SipServerOptions,
  hooks: SipServerHooks = {},
  world: SipServerWorld = {},
): Promise<SipServer> {
  if (options.control.secret === '') throw new Error('the control secret must not be empty');
  const clock = createSystemClock();
  const counters = createCounters();
  const proxied = createProxiedDialogs();
  const transport = await openTransports(transportOptions(options), {
    clock,
    counters,
    events: {
      onMessage: (received) => core.transactions.receive(received),
      onBadRequest(text, status, reason, flow) {
        const refused = rejectUnparsable(text, status, reason, flow);
        if (refused) core.onRefused?.(refused, status, flow);
      },
      onInternalError: hooks.onInternalError,
    },
    trace: hooks.onMessage,
  });
  const { onRefused } = hooks;
  const core = createHub(options, world, { clock, counters, transport, proxied, onRefused });
  const control = openControl(options, core, proxied, hooks.onCommand);
  try {
    await listenOn(control.server, options.control);
  } catch (error) {
    await transport.close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    core.isShuttingDown = true;
    await terminateCalls(core);
    const closed = control.close();
    closeCore(core);
    closeProxiedDialogs(proxied);
    await Promise.all([closed, transport.close()]);
  };
  return {
    sipPorts: transport.locals,
    setKnownPeers: (peers) => transport.setKnownPeers(peers),
    controlPort: (control.server.address() as AddressInfo).port,
    stats: () => ({ ...readStats(core, proxied), 'now.timers': clock.pending }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function createHub(
  options: SipServerOptions,
  world: SipServerWorld,
  parts: {
    clock: Clock;
    counters: Counters;
    transport: TransportLayer;
    proxied: ProxiedDialogs;
    onRefused: ObserveRefusal | undefined;
  },
): Core {
  const { clock, counters, transport, proxied, onRefused } = parts;
  const ids = createIds();
  const sipTimes = { ...DEFAULT_SIP_TIMES, ...options.sipTimes };
  const times = { ...defaultControlTimes, ...options.controlTimes };
  const maxWaitingCalls = options.maxWaitingCalls ?? defaults.DEFAULT_MAX_WAITING_CALLS;
  const transactions = new TransactionLayer({
    clock,
    ids,
    counters,
    transport,
    times: sipTimes,
    maxTransactions: options.maxTransactions ?? defaults.DEFAULT_MAX_TRANSACTIONS,
    mayBegin: (request, flow) => !core.isShuttingDown && mayAccept(core, request, flow, maxWaitingCalls),
    onRefused,
    user: {
      onRequest: (transaction, received) => onRequest(core, proxied, transaction, received),
      onAck: (ack, received) => onAck(core, proxied, ack, received),
      onStrayResponse: () => counters.count('dropped.stray_response'),
    },
  });
  const transports = [...new Set(transport.locals.map((local) => local.transport))];
  const locate = createTargetResolver(transports, clock, world.dns ?? systemDns);
  const core: Core = {
    clock,
    ids,
    counters,
    sipTimes,
    times,
    transport,
    transactions,
    applications: createApplications({
      clock,
      counters,
      graceMs: times.graceMs,
      onDisconnected: (application) => onApplicationDisconnected(core, application),
      onExpired: (application) => onApplicationExpired(core, application),
    }),
    incomingRequests: createIncomingRequestTable(),
    outgoingRequests: createOutgoingRequestTable(),
    dialogs: createDialogTable(),
    resolve: options.publicTargetsOnly
      ? publicTargetsOnly(locate, (address) => transport.isPrivatePeer(address))
      : locate,
    isScanner: createScannerCheck(options.scanners ?? defaults.DEFAULT_SCANNERS),
    tcpUpgrade: createTcpUpgrade(clock),
    showTrying: options.showTrying ?? false,
    isShuttingDown: false,
    announceCdr: (event) => announceCdr(core, event),
    onRefused,
  };
  return core;
}

/** Opens the control port. */
function openControl(
  options: SipServerOptions,
  core: Core,
  proxied: ProxiedDialogs,
  onCommand: (() => void) | undefined,
): { server: Server; close(): Promise<void> } {
  const sockets = new Set<Socket>();
  const commands = createCommands(core, proxied);
  const onSocket = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serveApplication(socket, {
      applications: core.applications,
      counters: core.counters,
      commands,
      onCommand,
      secret: options.control.secret,
      newId: core.ids.uuid,
      hostports: () => hostports(core.transport, options),
      authenticateMs: AUTHENTICATE_MS,
      startTimer: (callback, delayMs) => core.clock.setTimer(callback, delayMs),
    });
  };
  const { tls } = options.control;
  const server = tls ? createTlsServer(tls, onSocket) : createTcpServer(onSocket);
  return {
    server,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

function readStats(core: Core, proxied: ProxiedDialogs): SipServerStats {
  const { client, server } = core.transactions.size;
  return {
    ...core.counters.read(),
    'now.clientTransactions': client,
    'now.serverTransactions': server,
    'now.dialogs': core.dialogs.size,
    'now.proxiedDialogs': proxied.dialogs.size,
    'now.pendingRequests': core.incomingRequests.size,
    'now.sentRequests': core.outgoingRequests.size,
    'now.connections': core.transport.connections,
    'now.applications': core.applications.size,
  };
}

function transportOptions(options: SipServerOptions): TransportOptions {
  const host = options.host ?? defaults.DEFAULT_HOST;
  const port = options.port ?? defaults.DEFAULT_SIP_PORT;
  const listen: ListenOn[] = (options.transports ?? ['udp', 'tcp']).map((transport) => ({
    transport,
    host,
    port,
  }));
  if (options.tlsPort !== undefined) listen.push({ transport: 'tls', host, port: options.tlsPort });
  return {
    listen,
    publicAddress: options.publicAddress,
    tls: { verify: true, ...options.tls },
    guard: { ...defaultGuard, ...options.guard, trusted: options.trusted ?? [] },
    maxConnections: options.maxConnections ?? defaults.DEFAULT_MAX_CONNECTIONS,
    maxConnectionsPerSource: options.maxConnectionsPerSource ?? defaults.DEFAULT_MAX_CONNECTIONS_PER_SOURCE,
    times: { ...defaultConnectionTimes, ...options.connectionTimes },
  };
}

function listenOn(server: Server, options: SipServerOptions['control']): Promise<void> {
  const host = options.host ?? defaults.DEFAULT_HOST;
  const port = options.port ?? defaults.DEFAULT_CONTROL_PORT;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function hostports(transport: TransportLayer, options: SipServerOptions): string {
  return transport.locals
    .map((local) => `${local.transport}/${options.publicAddress ?? local.address}:${local.port}`)
    .join(',');
}
