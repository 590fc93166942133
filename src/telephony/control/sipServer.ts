import type { TraceSource } from '../trace.ts';
import type { ControlTarget } from './connection.ts';
import { parseControlUrl } from './probe.ts';

/** The SIP server that the node works with: the embedded one or a drachtio-server. */
export interface SipServerAccess {
  /** Undefined while the server is down. */
  target(): ControlTarget | undefined;
  /** All messages of a call; undefined for a drachtio-server, which reports only some of them. */
  readonly traces: TraceSource | undefined;
  /** Whether 100 Trying is reported. */
  readonly showsTrying: boolean;
  /** The SIP port for UDP and TCP; undefined for a drachtio-server. */
  readonly port: number | undefined;
  /** Exempts these sources, and no others, from limits and bans. */
  trust(sources: readonly string[]): void;
  /** Counters and gauges by name; undefined for a drachtio-server and while the server is down. */
  stats(): Promise<Readonly<Record<string, number>> | undefined>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** A drachtio-server, which runs on its own. @param url - `drachtio://:secret@host:9022` */
export function externalSipServer(url: string): SipServerAccess {
  const target = parseControlUrl(url);
  return {
    target: () => target,
    traces: undefined,
    showsTrying: false,
    port: undefined,
    trust: () => undefined,
    stats: async () => undefined,
    close: async () => undefined,
  };
}
