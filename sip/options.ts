import type { ControlTimes } from './control/core.ts';
import type { SipTimes } from './transaction/machine.ts';
import type { ConnectionTimes } from './transport/connection.ts';
import type { GuardOptions } from './transport/guard.ts';
import type { DnsQueries } from './transport/resolver.ts';
import type { TlsOptions } from './transport/stream.ts';

/** Options of a SIP server; all but the secret have defaults. */
export interface SipServerOptions {
  /** IP address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** UDP and TCP port; 0 for one chosen by the system. Default 5060. */
  readonly port?: number;
  /** The transports. Default: UDP and TCP. */
  readonly transports?: readonly ('udp' | 'tcp')[];
  /** TLS port, with `tls.key` and `tls.cert`. Default: none. */
  readonly tlsPort?: number;
  readonly tls?: Partial<TlsOptions>;
  /** The address in Via and Contact to peers beyond this machine. */
  readonly publicAddress?: string;
  readonly control: {
    /** The address to listen on. Default: 127.0.0.1. */
    readonly host?: string;
    /** 0 for one chosen by the system. Default 9022. */
    readonly port?: number;
    /** Must not be empty: it authorizes applications to place calls. */
    readonly secret: string;
    /** Makes the control port use TLS. */
    readonly tls?: { readonly key: string; readonly cert: string };
  };
  /** Sources without limits and bans: `address`, `address:port` or `network/bits`. */
  readonly trusted?: readonly string[];
  /** Sends requests to public addresses only, and to those of known peers that may be private. Default false. */
  readonly publicTargetsOnly?: boolean;
  readonly guard?: Partial<Omit<GuardOptions, 'trusted'>>;
  /** The most connections. Default: 1000. */
  readonly maxConnections?: number;
  /** The most connections of one source. Default: 100. */
  readonly maxConnectionsPerSource?: number;
  /** The most transactions. Default: 100,000. */
  readonly maxTransactions?: number;
  /** Requests that wait for an application; further calls get 503, those of strangers at half of it. Default 2,000. */
  readonly maxWaitingCalls?: number;
  /** Beginnings of User-Agents that get 603. */
  readonly scanners?: readonly string[];
  /**
   * Delivers 100 Trying to applications, which drachtio-server does not: without it a peer that rings late looks
   * unreachable. Default false.
   */
  readonly showTrying?: boolean;
  readonly sipTimes?: Partial<SipTimes>;
  readonly controlTimes?: Partial<ControlTimes>;
  readonly connectionTimes?: Partial<ConnectionTimes>;
}

/** External dependencies, replaced by tests. */
export interface SipServerWorld {
  readonly dns?: DnsQueries;
}

export const DEFAULT_SIP_PORT = 5060;
export const DEFAULT_CONTROL_PORT = 9022;
export const DEFAULT_HOST = '127.0.0.1';
/** Enough for a large site, far below the usual limit of open files. */
export const DEFAULT_MAX_CONNECTIONS = 1000;
export const DEFAULT_MAX_CONNECTIONS_PER_SOURCE = 100;
/** 300 calls a second with about ten transactions each, which stay for 32 s. */
export const DEFAULT_MAX_TRANSACTIONS = 100_000;
/** Seven seconds at 300 calls a second; later callers would not get a response in time. */
export const DEFAULT_MAX_WAITING_CALLS = 2000;
/** The User-Agents of common scanners. */
export const DEFAULT_SCANNERS: readonly string[] = [
  'friendly-scanner',
  'friendly-request',
  'sipcli',
  'sipvicious',
  'sip-scan',
  'sundayddr',
  'iwar',
  'sivus',
  'gulp',
  'pplsip',
  'vaxsipuseragent',
];
