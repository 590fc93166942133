import { networkInterfaces } from 'node:os';
import type { Clock } from '../clock.ts';
import { type ByteString, byteString } from '../message/bytes.ts';
import { SipParseError } from '../message/errors.ts';
import type { SipMessage } from '../message/message.ts';
import { parseMessage } from '../message/parse.ts';
import type { Counters } from '../stats.ts';
import { type ConnectionTimes, defaultConnectionTimes } from './connection.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { isPortUnreachable } from './portProbe.ts';
import type { Target } from './resolver.ts';
import { createStreams, type TlsOptions } from './stream.ts';
import type { Endpoint, Flow, TracedMessage, TransportEvents, TransportName } from './types.ts';
import { openUdp, type UdpTransport } from './udp.ts';

export interface ListenOn {
  readonly transport: TransportName;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export interface TransportOptions {
  readonly listen: readonly ListenOn[];
  /** What peers beyond this machine are told to reach us at, when it is not the address we listen on. */
  readonly publicAddress?: string | undefined;
  readonly tls: TlsOptions;
  readonly guard: GuardOptions;
  readonly maxConnections: number;
  readonly maxConnectionsPerSource: number;
  readonly times?: ConnectionTimes;
}

export interface TransportDeps {
  readonly clock: Clock;
  readonly counters: Counters;
  readonly events: TransportEvents;
  /** Asked for each message; leave it out for no cost at all. */
  readonly trace?: (message: TracedMessage) => void;
}

export interface TransportLayer {
  readonly locals: readonly Endpoint[];
  readonly connections: number;
  /** @throws {Error} When there is no socket of that transport. */
  flowTo(target: Target): Flow;
  /** Whether a connection to that end stands; never true for UDP. */
  isConnected(remote: Endpoint): boolean;
  /** What to write into Via and Contact for messages to that peer. */
  advertised(flow: Flow): { host: string; port: number };
  /** Whether nobody listens on a UDP port, as far as its machine tells. */
  isRefused(remote: Endpoint): Promise<boolean>;
  /** Whether a source is one of those that nothing is refused to. */
  isTrusted(remote: Endpoint): boolean;
  /** Whether a source may begin one more call now. */
  admitCall(remote: Endpoint): boolean;
  /** Never limits or bans these sources from now on, but all others. @throws {RangeError} */
  trust(sources: readonly string[]): void;
  /** Whether an address and port is one of ours. */
  isSelf(host: string, port: number): boolean;
  close(): Promise<void>;
}

/** Anything shorter, or not beginning with a letter, is a keep-alive or noise and is not parsed. */
const SHORTEST_MESSAGE_BYTES = 16;

/** A port that the system chose for UDP may be taken for TCP; then another pair is tried. */
const MAX_PORT_TRIES = 10;

/**
 * Opens all sockets.
 *
 * @throws {Error} When one cannot be opened; those that were are closed again.
 */
export async function openTransports(
  options: TransportOptions,
  deps: TransportDeps,
): Promise<TransportLayer> {
  const mayTryAgain = options.listen.some(({ port }) => port === 0);
  for (let tries = 1; ; tries += 1) {
    try {
      return await openOnce(options, deps);
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken || !mayTryAgain || tries === MAX_PORT_TRIES) throw error;
    }
  }
}

async function openOnce(options: TransportOptions, deps: TransportDeps): Promise<TransportLayer> {
  const { clock, counters, events } = deps;
  const guard = createGuard(options.guard, clock, counters);
  const udps: UdpTransport[] = [];
  const locals: Endpoint[] = [];

  const onSent = (text: ByteString, remote: Endpoint): void => {
    counters.count('messages.out');
    if (deps.trace) deps.trace(traced(clock, 'out', text, remote));
  };
  const deliver = (message: SipMessage, text: ByteString, flow: Flow): void => {
    counters.count('messages.in');
    guard.noteValidMessage(flow.remote.address, flow.remote.port);
    if (deps.trace) deps.trace(traced(clock, 'in', text, flow.remote));
    try {
      events.onMessage({ message, lengthBytes: text.length, flow });
    } catch (error) {
      // One message, however strange, never ends the calls of all others.
      counters.count('errors.internal');
      events.onInternalError?.(error);
    }
  };
  const rubbish = (error: SipParseError, text: ByteString, flow: Flow): void => {
    counters.count(`dropped.${error.code}`);
    guard.noteMalformedMessage(flow.remote.address, flow.remote.port);
    events.onBadRequest?.(text, error.status, error.message, flow);
  };

  const onDatagram = (bytes: Buffer, flow: Flow): void => {
    if (!guard.admit(flow.remote.address, flow.remote.port)) return;
    if (bytes.length < SHORTEST_MESSAGE_BYTES) {
      counters.count('dropped.keepalive');
      return;
    }
    try {
      deliver(parseMessage(bytes), byteString(bytes), flow);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      rubbish(error, byteString(bytes), flow);
    }
  };

  const streams = createStreams(options, {
    clock,
    counters,
    guard,
    times: options.times ?? defaultConnectionTimes,
    onSent,
    onFramed(framed, flow) {
      if (guard.admit(flow.remote.address, flow.remote.port)) deliver(framed.message, framed.text, flow);
    },
    onRubbish: rubbish,
  });

  const listenUdp = async (host: string, port: number): Promise<void> => {
    const onError = () => counters.count('udp.errors');
    const udp = await openUdp(host, port, { onDatagram, onSent, onError });
    udps.push(udp);
    locals.push(udp.local);
  };
  const close = async (): Promise<void> => {
    await streams.close();
    await Promise.all(udps.map((udp) => udp.close()));
  };

  try {
    for (const { transport, host, port } of options.listen) {
      const sameAsUdp = port === 0 ? locals.find((local) => local.transport === 'udp')?.port : port;
      if (transport === 'udp') {
        for (const one of udpHosts(host)) await listenUdp(one, port || (udps[0]?.local.port ?? 0));
      } else {
        locals.push(await streams.listen(transport, host, transport === 'tcp' ? (sameAsUdp ?? 0) : port));
      }
    }
  } catch (error) {
    await close();
    throw error;
  }

  return {
    locals,
    get connections() {
      return streams.connections;
    },
    flowTo(target) {
      if (target.transport !== 'udp') return streams.flowTo(target, target.servername);
      const family = target.address.includes(':');
      const udp = udps.find(({ local }) => local.address.includes(':') === family);
      if (!udp) throw new Error('there is no UDP socket');
      return udp.flowTo(target);
    },
    isConnected: (remote) => streams.isConnected(remote),
    isRefused: (remote) => isPortUnreachable(remote, clock),
    isTrusted: ({ address, port }) => guard.isTrusted(address, port),
    admitCall: ({ address, port }) => guard.admitCall(address, port),
    trust: guard.trust,
    advertised(flow) {
      const toLoopback = isLoopback(flow.remote.address);
      const wanted = toLoopback ? undefined : options.publicAddress;
      const bound = isWildcard(flow.local.address) ? ownAddress(flow.remote.address) : flow.local.address;
      return { host: wanted ?? bound, port: flow.local.port || (locals[0]?.port ?? 5060) };
    },
    isSelf(host, port) {
      return locals.some(
        (local) =>
          local.port === port &&
          (local.address === host ||
            host === options.publicAddress ||
            (isWildcard(local.address) && (isLoopback(host) || ownAddresses().includes(host)))),
      );
    },
    close,
  };
}

/** All addresses of the machine are those of both families. */
function udpHosts(host: string): string[] {
  return host === '::' ? ['::', '0.0.0.0'] : [host];
}

function traced(clock: Clock, direction: 'in' | 'out', text: ByteString, remote: Endpoint): TracedMessage {
  const callId = /\n(?:call-id|i)[ \t]*:[ \t]*([^\s]+)/i.exec(text)?.[1] ?? '';
  const at = `${remote.address}:${remote.port}`;
  return { atMs: clock.now(), direction, transport: remote.transport, remote: at, callId, text };
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address === 'localhost';
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

/** An address of this machine that the peer can probably reach: loopback for loopback, else the first real one. */
function ownAddress(peer: string): string {
  const six = peer.includes(':');
  if (isLoopback(peer)) return six ? '::1' : '127.0.0.1';
  const outward = ownAddresses().find((address) => address.includes(':') === six && !isLoopback(address));
  return outward ?? (six ? '::1' : '127.0.0.1');
}
