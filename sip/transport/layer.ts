import { networkInterfaces } from 'node:os';
import type { Clock } from '../clock.ts';
import { type ByteString, byteString } from '../message/bytes.ts';
import { SipParseError } from '../message/errors.ts';
import type { SipMessage } from '../message/message.ts';
import { parseMessage } from '../message/parse.ts';
import type { Counters } from '../stats.ts';
import { type ConnectionTimes, defaultConnectionTimes } from './connection.ts';
import { createGuard, type Guard, type GuardOptions, type KnownPeer } from './guard.ts';
import { isPortUnreachable } from './portProbe.ts';
import type { Target } from './resolver.ts';
import { StreamTransport, type TlsOptions } from './stream.ts';
import type { Endpoint, Flow, TracedMessage, TransportEvents, TransportName } from './types.ts';
import { openUdp, type UdpTransport } from './udp.ts';

export interface ListenOn {
  readonly transport: TransportName;
  readonly host: string;
  /** 0 for one chosen by the system. */
  readonly port: number;
}

export interface TransportOptions {
  readonly listen: readonly ListenOn[];
  /** The address in Via and Contact to peers beyond this machine, when it differs from the bound one. */
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
  /** Called for each message. */
  readonly trace?: (message: TracedMessage) => void;
}

/** Shorter datagrams are keep-alives or noise. */
const MIN_MESSAGE_BYTES = 16;
/** A UDP port chosen by the system may be in use for TCP; then another pair is tried. */
const MAX_PORT_TRIES = 10;

/**
 * Opens all sockets.
 *
 * @throws {Error} When one cannot be opened; the others are closed again.
 */
export async function openTransports(
  options: TransportOptions,
  deps: TransportDeps,
): Promise<TransportLayer> {
  const mayRetry = options.listen.some(({ port }) => port === 0);
  for (let tries = 1; ; tries += 1) {
    const layer = new TransportLayer(options, deps);
    try {
      await layer.open();
      return layer;
    } catch (error) {
      await layer.close();
      const isInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isInUse || !mayRetry || tries === MAX_PORT_TRIES) throw error;
    }
  }
}

/** Sends and receives messages over UDP, TCP and TLS. @see RFC 3261 section 18 */
export class TransportLayer {
  readonly #options: TransportOptions;
  readonly #deps: TransportDeps;
  readonly #guard: Guard;
  readonly #streams: StreamTransport;
  readonly #udps: UdpTransport[] = [];
  readonly #locals: Endpoint[] = [];

  constructor(options: TransportOptions, deps: TransportDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#guard = createGuard(options.guard, deps.clock, deps.counters);
    this.#streams = new StreamTransport(options, {
      clock: deps.clock,
      counters: deps.counters,
      guard: this.#guard,
      times: options.times ?? defaultConnectionTimes,
      onSent: (text, remote) => this.#onSent(text, remote),
      onFramed: ({ message, text }, flow) => {
        if (this.#guard.admit(flow.remote.address, flow.remote.port)) this.#deliver(message, text, flow);
      },
      onMalformed: (error, text, flow) => this.#onMalformed(error, text, flow),
    });
  }

  /** Binds all sockets; `close` undoes it also after a failure. */
  async open(): Promise<void> {
    for (const { transport, host, port } of this.#options.listen) {
      if (transport === 'udp') {
        for (const udpHost of udpHosts(host)) await this.#openUdp(udpHost, port);
      } else {
        const sharedPort = transport === 'tcp' && port === 0 ? this.#udpPort : port;
        this.#locals.push(await this.#streams.listen(transport, host, sharedPort));
      }
    }
  }

  get locals(): readonly Endpoint[] {
    return this.#locals;
  }

  get connections(): number {
    return this.#streams.connections;
  }

  /** @throws {Error} When there is no socket of that transport. */
  flowTo(target: Target): Flow {
    if (target.transport !== 'udp') return this.#streams.flowTo(target, target.servername);
    const isIpv6 = target.address.includes(':');
    const udp = this.#udps.find(({ local }) => local.address.includes(':') === isIpv6);
    if (!udp) throw new Error('there is no UDP socket');
    return udp.flowTo(target);
  }

  /** Returns true when there is a socket for the target's transport and kind of address. */
  canReach(target: Target): boolean {
    try {
      return this.flowTo(target) !== undefined;
    } catch {
      // There is no such socket.
      return false;
    }
  }

  /** Returns true when there is a connection to an endpoint; never for UDP. */
  isConnected(remote: Endpoint): boolean {
    return this.#streams.isConnected(remote);
  }

  /** Our host and port in Via and Contact to the peer of a flow. */
  advertised(flow: Flow): { host: string; port: number } {
    const { address, port } = flow.local;
    const publicAddress = isLoopback(flow.remote.address) ? undefined : this.#options.publicAddress;
    const bound = isWildcard(address) ? ownAddress(flow.remote.address) : address;
    return { host: publicAddress ?? bound, port: port || (this.#locals[0]?.port ?? 5060) };
  }

  /** Resolves to true when a host reports that its UDP port is closed. */
  isPortUnreachable(remote: Endpoint): Promise<boolean> {
    return isPortUnreachable(remote, this.#deps.clock);
  }

  isTrusted({ address, port }: Endpoint): boolean {
    return this.#guard.isTrusted(address, port);
  }

  /** Returns true when an address belongs to a known peer that may be private. */
  isPrivatePeer(address: string): boolean {
    return this.#guard.isPrivatePeer(address);
  }

  /** Returns true when a new call of a source is within its limit. */
  admitCall({ address, port }: Endpoint): boolean {
    return this.#guard.admitCall(address, port);
  }

  /** Replaces the known peers. @throws {RangeError} For an invalid source. */
  setKnownPeers(peers: readonly KnownPeer[]): void {
    this.#guard.setKnownPeers(peers);
  }

  /** Returns true when an address and port is one of ours. */
  isSelf(host: string, port: number): boolean {
    return this.#locals.some(
      (local) =>
        local.port === port &&
        (local.address === host ||
          host === this.#options.publicAddress ||
          (isWildcard(local.address) && (isLoopback(host) || ownAddresses().includes(host)))),
    );
  }

  async close(): Promise<void> {
    await this.#streams.close();
    await Promise.all(this.#udps.map((udp) => udp.close()));
  }

  get #udpPort(): number {
    return this.#udps[0]?.local.port ?? 0;
  }

  async #openUdp(host: string, port: number): Promise<void> {
    const udp = await openUdp(host, port || this.#udpPort, {
      onDatagram: (bytes, flow) => this.#onDatagram(bytes, flow),
      onSent: (text, remote) => this.#onSent(text, remote),
      onError: () => this.#deps.counters.count('udp.errors'),
    });
    this.#udps.push(udp);
    this.#locals.push(udp.local);
  }

  #onDatagram(bytes: Buffer, flow: Flow): void {
    if (!this.#guard.admit(flow.remote.address, flow.remote.port)) return;
    if (bytes.length < MIN_MESSAGE_BYTES) {
      this.#deps.counters.count('dropped.keepalive');
      return;
    }
    try {
      this.#deliver(parseMessage(bytes), byteString(bytes), flow);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      this.#onMalformed(error, byteString(bytes), flow);
    }
  }

  #deliver(message: SipMessage, text: ByteString, flow: Flow): void {
    const { counters, events } = this.#deps;
    counters.count('messages.in');
    this.#guard.noteValidMessage(flow.remote.address, flow.remote.port);
    this.#trace('in', text, flow.remote);
    try {
      events.onMessage({ message, lengthBytes: text.length, flow });
    } catch (error) {
      // One message must not affect other calls.
      counters.count('errors.internal');
      events.onInternalError?.(error);
    }
  }

  #onMalformed(error: SipParseError, text: ByteString, flow: Flow): void {
    const { counters, events } = this.#deps;
    counters.count(`dropped.${error.code}`);
    this.#guard.noteMalformedMessage(flow.remote.address, flow.remote.port);
    events.onBadRequest?.(text, error.status, error.message, flow);
  }

  #onSent(text: ByteString, remote: Endpoint): void {
    this.#deps.counters.count('messages.out');
    this.#trace('out', text, remote);
  }

  #trace(direction: 'in' | 'out', text: ByteString, { transport, address, port }: Endpoint): void {
    const { trace, clock } = this.#deps;
    if (!trace) return;
    const callId = /\n(?:call-id|i)[ \t]*:[ \t]*([^\s]+)/i.exec(text)?.[1] ?? '';
    trace({ atMs: clock.now(), direction, transport, remote: `${address}:${port}`, callId, text });
  }
}

/** The wildcard address covers both families, by one socket each. */
function udpHosts(host: string): string[] {
  return host === '::' ? ['::', '0.0.0.0'] : [host];
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

/** Our address towards a peer: loopback for loopback, else the first external one. */
function ownAddress(peer: string): string {
  const six = peer.includes(':');
  if (isLoopback(peer)) return six ? '::1' : '127.0.0.1';
  const outward = ownAddresses().find((address) => address.includes(':') === six && !isLoopback(address));
  return outward ?? (six ? '::1' : '127.0.0.1');
}
