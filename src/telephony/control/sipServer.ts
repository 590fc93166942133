import type { TraceSource } from '../trace.ts';
import type { ControlTarget } from './connection.ts';
import { parseControlUrl } from './probe.ts';

/** A trunk, as the SIP server's flood guard knows it. */
export interface KnownPeer {
  readonly name: string;
  /** The sources, each an `address`, `address:port` or `network/bits`. */
  readonly sources: readonly string[];
  /** True when the peer's host may be private although trunks' hosts must be public. */
  readonly mayBePrivate: boolean;
}

export interface RefusedInvite {
  readonly status: number;
  readonly address: string;
  readonly port: number;
  /** The Request-URI; '' when it is unreadable. */
  readonly uri: string;
  /** Header values as on the wire, '' where one is missing. */
  readonly from: string;
  readonly to: string;
  readonly callId: string;
  /** The number of requests that were rejected with this status. The other fields describe the first one. */
  readonly count: number;
}

/** The SIP server that the node works with: the embedded one or a drachtio-server. */
export interface SipServerAccess {
  /** Returns the server to connect to; undefined while it is down. */
  target(): ControlTarget | undefined;
  /** The source of calls' messages; undefined for a drachtio-server, which reports only some of them. */
  readonly traces: TraceSource | undefined;
  /** True when 100 Trying is reported. */
  readonly showsTrying: boolean;
  /** True when the server itself limits its requests to public addresses where the settings require it. */
  readonly checksTargets: boolean;
  /** The SIP port for UDP and TCP; undefined for a drachtio-server. */
  readonly port: number | undefined;
  /** Gives these peers, and no others, a budget of their own. */
  setKnownPeers(peers: readonly KnownPeer[]): void;
  /** Hears of the calls that the server rejects itself; those of a drachtio-server are not known. */
  onRefused(listener: (refused: readonly RefusedInvite[]) => void): void;
  /** Counters and gauges by name; undefined for a drachtio-server and while the server is down. */
  stats(): Promise<Readonly<Record<string, number>> | undefined>;
  close(): Promise<void>;
}

/** A drachtio-server, which runs on its own. @param url - `drachtio://:secret@host:9022` */
export function externalSipServer(url: string): SipServerAccess {
  const target = parseControlUrl(url);
  return {
    target: () => target,
    traces: undefined,
    showsTrying: false,
    checksTargets: false,
    port: undefined,
    setKnownPeers: () => undefined,
    onRefused: () => undefined,
    stats: async () => undefined,
    close: async () => undefined,
  };
}
