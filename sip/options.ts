import type { ControlTimes } from './control/core.ts';
import type { SipTimes } from './transaction/machine.ts';
import type { ConnectionTimes } from './transport/connection.ts';
import type { GuardOptions } from './transport/guard.ts';
import type { DnsQueries } from './transport/resolver.ts';
import type { TlsOptions } from './transport/stream.ts';

/** How to start a SIP server; everything but the secret has a default. */
export interface SipServerOptions {
  /** IP address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** UDP and TCP port; 0 lets the system choose one for both. Default 5060. */
  readonly port?: number;
  /** Which of UDP and TCP. Default both. */
  readonly transports?: readonly ('udp' | 'tcp')[];
  /** TLS port, with `tls.key` and `tls.cert`. Default: none. */
  readonly tlsPort?: number;
  readonly tls?: Partial<TlsOptions>;
  /** What peers beyond this machine are told to reach us at. */
  readonly publicAddress?: string;
  readonly control: {
    /** Default 127.0.0.1. */
    readonly host?: string;
    /** 0 lets the system choose. Default 9022. */
    readonly port?: number;
    /** Must not be empty: who knows it can place calls. */
    readonly secret: string;
    /** With key and certificate the control port speaks TLS. */
    readonly tls?: { readonly key: string; readonly cert: string };
  };
  /** Never limited or banned: `address`, `address:port` or `network/bits`. */
  readonly trusted?: readonly string[];
  readonly guard?: Partial<Omit<GuardOptions, 'trusted'>>;
  /** Default 1000. */
  readonly maxConnections?: number;
  /** Default 100. */
  readonly maxConnectionsPerSource?: number;
  /** Default 100,000. */
  readonly maxTransactions?: number;
  /** New requests that wait for an application's answer; a call beyond them is answered 503. Default 2,000. */
  readonly maxWaitingCalls?: number;
  /** Beginnings of the User-Agents that are answered 603 without being shown to an application. */
  readonly scanners?: readonly string[];
  /**
   * Shows applications the 100 Trying that their INVITEs get, which drachtio-server keeps to itself: without it a peer
   * that takes its time to ring looks like a dead one. Default false.
   */
  readonly showTrying?: boolean;
  readonly sipTimes?: Partial<SipTimes>;
  readonly controlTimes?: Partial<ControlTimes>;
  readonly connectionTimes?: Partial<ConnectionTimes>;
}

/** What tests put in the place of the world. */
export interface SipServerWorld {
  readonly dns?: DnsQueries;
}

export const DEFAULT_SIP_PORT = 5060;
export const DEFAULT_CONTROL_PORT = 9022;
export const DEFAULT_HOST = '127.0.0.1';
/** Enough for every trunk and phone of a large site, far below the usual limit on open files. */
export const DEFAULT_MAX_CONNECTIONS = 1000;
export const DEFAULT_MAX_CONNECTIONS_PER_SOURCE = 100;
/** 300 calls a second, each with some ten transactions that linger for 32 s. */
export const DEFAULT_MAX_TRANSACTIONS = 100_000;
/** Seven seconds of 300 calls a second: who comes after would not be answered in time. */
export const DEFAULT_MAX_WAITING_CALLS = 2000;
/** What the scanners seen everywhere call themselves. */
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
