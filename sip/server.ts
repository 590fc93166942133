import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Clock, createSystemClock } from './clock.ts';
import { createApps } from './control/apps.ts';
import { createLegs, createPendingBook, createSentBook } from './control/books.ts';
import { createCommands } from './control/commands.ts';
import { defaultControlTimes, type Hub } from './control/hub.ts';
import { onAck, onRequest } from './control/incoming.ts';
import { announceCdr, closeHub, onAppGone, onAppLost, sayGoodbye } from './control/lifecycle.ts';
import { closeProxyBook, createProxyBook, type ProxyBook } from './control/proxyDialogs.ts';
import { createScannerCheck, mayBegin, refuseUnparsed } from './control/refuse.ts';
import { serveApp } from './control/session.ts';
import { createWidening } from './control/widening.ts';
import { createIds } from './ids.ts';
import type { SipServerOptions, SipServerWorld } from './options.ts';
import * as defaults from './options.ts';
import { type Counters, createCounters } from './stats.ts';
import { createTransactions, type TransactionLayer } from './transaction/layer.ts';
import { defaultTimes } from './transaction/machine.ts';
import { defaultConnectionTimes } from './transport/connection.ts';
import { defaultGuard } from './transport/guard.ts';
import {
  type ListenOn,
  openTransports,
  type TransportLayer,
  type TransportOptions,
} from './transport/layer.ts';
import { createLocator } from './transport/locator.ts';
import { systemDns } from './transport/resolver.ts';
import type { Endpoint, TracedMessage } from './transport/types.ts';

/** Counters since the start, and gauges of what is there now, by name. */
export type SipServerStats = Readonly<Record<string, number>>;

export interface SipServer {
  /** The ports that it really listens on. */
  readonly sipPorts: readonly Endpoint[];
  readonly controlPort: number;
  stats(): SipServerStats;
  /** Takes the place of the option `trusted`. @throws {RangeError} For what is no source. */
  trust(sources: readonly string[]): void;
  /** Ends at once: calls in progress are not said goodbye to. Idempotent. */
  close(): Promise<void>;
}

/** What a server may be asked to tell beside its work. */
export interface SipServerHooks {
  /** Each message in and out; leave it out for no cost. */
  readonly onMessage?: (message: TracedMessage) => void;
  /** A defect that one message brought to light; the server goes on. */
  readonly onInternalError?: (error: unknown) => void;
}

/** An application that connects must prove who it is within this time. */
const AUTHENTICATE_MS = 10_000;
/**
 * Starts a SIP server whose applications drive it by drachtio's control protocol.
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
  const book = createProxyBook();
  const transport = await openTransports(transportOptions(options), {
    clock,
    counters,
    events: {
      onMessage: (incoming) => hub.transactions.receive(incoming),
      onBadRequest: refuseUnparsed,
      ...(hooks.onInternalError ? { onInternalError: hooks.onInternalError } : {}),
    },
    ...(hooks.onMessage ? { trace: hooks.onMessage } : {}),
  });
  const hub = createHub(options, world, { clock, counters, transport, book });
  const control = openControl(options, hub, book);
  try {
    await listenOn(control.server, options.control);
  } catch (error) {
    await transport.close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    hub.isEnding = true;
    await sayGoodbye(hub);
    const closed = control.close();
    closeHub(hub);
    closeProxyBook(book);
    await Promise.all([closed, transport.close()]);
  };
  return {
    sipPorts: transport.locals,
    trust: transport.trust,
    controlPort: (control.server.address() as AddressInfo).port,
    stats: () => ({ ...readStats(hub, book), 'now.timers': clock.pending }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function createHub(
  options: SipServerOptions,
  world: SipServerWorld,
  parts: { clock: Clock; counters: Counters; transport: TransportLayer; book: ProxyBook },
): Hub {
  const { clock, counters, transport, book } = parts;
  const ids = createIds();
  const sipTimes = { ...defaultTimes, ...options.sipTimes };
  const times = { ...defaultControlTimes, ...options.controlTimes };
  const maxWaitingCalls = options.maxWaitingCalls ?? defaults.DEFAULT_MAX_WAITING_CALLS;
  const transactions: TransactionLayer = createTransactions({
    clock,
    ids,
    counters,
    transport,
    times: sipTimes,
    maxTransactions: options.maxTransactions ?? defaults.DEFAULT_MAX_TRANSACTIONS,
    mayBegin: (request, flow) => !hub.isEnding && mayBegin(hub, request, flow, maxWaitingCalls),
    user: {
      onRequest: (transaction, incoming) => onRequest(hub, book, transaction, incoming),
      onAck: (ack, incoming) => onAck(hub, book, ack, incoming),
      onStrayResponse: () => counters.count('dropped.stray_response'),
    },
  });
  const hub: Hub = {
    clock,
    ids,
    counters,
    sipTimes,
    times,
    transport,
    transactions,
    apps: createApps({
      clock,
      counters,
      graceMs: times.graceMs,
      onLost: (owner) => onAppLost(hub, owner),
      onGone: (owner) => onAppGone(hub, owner),
    }),
    pending: createPendingBook(),
    sent: createSentBook(),
    legs: createLegs(),
    locate: createLocator(
      [...new Set(transport.locals.map((local) => local.transport))],
      clock,
      world.dns ?? systemDns,
    ),
    isScanner: createScannerCheck(options.scanners ?? defaults.DEFAULT_SCANNERS),
    widening: createWidening(clock),
    showTrying: options.showTrying ?? false,
    isEnding: false,
    announceCdr: (event) => announceCdr(hub, event),
  };
  return hub;
}

/** The port that applications connect to. */
function openControl(
  options: SipServerOptions,
  hub: Hub,
  book: ProxyBook,
): { server: Server; close(): Promise<void> } {
  const sockets = new Set<Socket>();
  const commands = createCommands(hub, book);
  const onSocket = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serveApp(socket, {
      apps: hub.apps,
      counters: hub.counters,
      commands,
      secret: options.control.secret,
      newId: hub.ids.uuid,
      hostports: () => hostports(hub.transport, options),
      authenticateMs: AUTHENTICATE_MS,
      startTimer: (callback, delayMs) => hub.clock.setTimer(callback, delayMs),
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

function readStats(hub: Hub, book: ProxyBook): SipServerStats {
  const { client, server } = hub.transactions.size;
  return {
    ...hub.counters.read(),
    'now.clientTransactions': client,
    'now.serverTransactions': server,
    'now.dialogs': hub.legs.size,
    'now.proxiedDialogs': book.dialogs.size,
    'now.pendingRequests': hub.pending.size,
    'now.sentRequests': hub.sent.size,
    'now.connections': hub.transport.connections,
    'now.applications': hub.apps.size,
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
