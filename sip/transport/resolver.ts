import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { type SipUri, unbracketed } from '../message/uri.ts';
import type { Endpoint, TransportName } from './types.ts';

/** Where a request for a URI may go, best first. */
export interface Target extends Endpoint {
  /** The name that a TLS peer must prove. */
  readonly servername?: string;
}

export interface SrvRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

export interface DnsQueries {
  /** @returns No records when there are none. */
  srv(name: string): Promise<SrvRecord[]>;
  addresses(host: string): Promise<string[]>;
}

export interface ResolverDeps {
  readonly dns: DnsQueries;
  /** Transports that we can speak, in the order we like them. */
  readonly transports: readonly TransportName[];
  /** 0 up to, not including, 1. */
  random(): number;
}

/** A registered service needs no more; a hostile zone gets no more. */
const MAX_TARGETS = 8;

/**
 * Finds where to send a request, by RFC 3263 without NAPTR: an explicit transport and port are obeyed, else SRV
 * records are followed in order of priority and weight, else the host's addresses are taken with the default port.
 *
 * @throws {Error} When the name leads nowhere.
 * @see RFC 3263 section 4
 */
export async function resolveTargets(uri: SipUri, deps: ResolverDeps): Promise<Target[]> {
  const host = unbracketed(uri.params.get('maddr') ?? uri.host);
  const asked = askedTransport(uri);
  const isLiteral = isIP(host) > 0;
  if (isLiteral || uri.port !== undefined) {
    const transport = asked ?? (uri.scheme === 'sips' ? 'tls' : 'udp');
    return addressTargets(host, uri.port ?? defaultPort(transport), transport, host, deps);
  }
  const candidates = asked
    ? [asked]
    : deps.transports.filter((name) => uri.scheme !== 'sips' || name === 'tls');
  for (const transport of candidates) {
    const targets = await srvTargets(host, transport, deps);
    if (targets.length > 0) return targets;
  }
  const transport = asked ?? (uri.scheme === 'sips' ? 'tls' : 'udp');
  return addressTargets(host, defaultPort(transport), transport, host, deps);
}

/**
 * Sorts by priority, and among equals by a draw in which the weight is the chance.
 *
 * @see RFC 2782
 */
export function orderSrv(records: readonly SrvRecord[], random: () => number): SrvRecord[] {
  const ordered: SrvRecord[] = [];
  const rest = [...records].sort((a, b) => a.priority - b.priority || a.weight - b.weight);
  while (rest.length > 0) {
    const equals = rest.filter((record) => record.priority === rest[0]?.priority);
    const total = equals.reduce((sum, record) => sum + record.weight, 0);
    let draw = random() * total;
    const chosen =
      equals.find((record) => {
        draw -= record.weight;
        return draw < 0;
      }) ?? equals[0];
    if (!chosen) break;
    ordered.push(chosen);
    rest.splice(rest.indexOf(chosen), 1);
  }
  return ordered;
}

/** The system's resolver: SRV by DNS, addresses also by the hosts file. */
export const systemDns: DnsQueries = {
  async srv(name) {
    try {
      return await dns.resolveSrv(name);
    } catch {
      // No record, no server, no such name: the address lookup that follows tells.
      return [];
    }
  },
  async addresses(host) {
    const found = await dns.lookup(host, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  },
};

function askedTransport(uri: SipUri): TransportName | undefined {
  const name = uri.params.get('transport')?.toLowerCase();
  if (name === 'tls' || (uri.scheme === 'sips' && name === 'tcp')) return 'tls';
  return name === 'udp' || name === 'tcp' ? name : undefined;
}

function defaultPort(transport: TransportName): number {
  return transport === 'tls' ? 5061 : 5060;
}

async function srvTargets(host: string, transport: TransportName, deps: ResolverDeps): Promise<Target[]> {
  const service = transport === 'tls' ? '_sips._tcp' : `_sip._${transport}`;
  const records = orderSrv(await deps.dns.srv(`${service}.${host}`), () => deps.random());
  const targets: Target[] = [];
  for (const record of records.slice(0, MAX_TARGETS)) {
    targets.push(...(await addressTargets(record.name, record.port, transport, host, deps).catch(() => [])));
  }
  return targets.slice(0, MAX_TARGETS);
}

async function addressTargets(
  host: string,
  port: number,
  transport: TransportName,
  servername: string,
  deps: ResolverDeps,
): Promise<Target[]> {
  const addresses = isIP(host) > 0 ? [host] : await deps.dns.addresses(host);
  const named = transport === 'tls' && isIP(servername) === 0 ? { servername } : {};
  return addresses.slice(0, MAX_TARGETS).map((address) => ({ transport, address, port, ...named }));
}
