import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import { type SipUri, unbracketed } from '../message/fields/uri.ts';
import type { Endpoint, TransportName } from './types.ts';

/** A transport address of a URI. */
export interface Target extends Endpoint {
  /** The name in the certificate of a TLS peer. */
  readonly servername?: string;
}

export interface SrvRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** The transports of a domain and the names of their SRV records. @see RFC 3263 section 4.1 */
export interface NaptrRecord {
  readonly order: number;
  readonly preference: number;
  /** `s` where `replacement` names SRV records. */
  readonly flags: string;
  /** `SIP+D2U`, `SIP+D2T`, `SIPS+D2T`, or another service. */
  readonly service: string;
  readonly replacement: string;
}

export interface DnsQueries {
  /** @returns No records when there are none. */
  naptr(name: string): Promise<NaptrRecord[]>;
  /** @returns No records when there are none. */
  srv(name: string): Promise<SrvRecord[]>;
  addresses(host: string): Promise<string[]>;
}

export interface ResolverDeps {
  readonly dns: DnsQueries;
  /** Our transports, in order of preference. */
  readonly transports: readonly TransportName[];
  /** 0 up to, not including, 1. */
  random(): number;
}

/** Bounds the effect of a hostile zone. */
const MAX_TARGETS = 8;

/**
 * Resolves the targets of a request: by an explicit transport and port, else by the NAPTR records of the domain, else
 * by its SRV records in order of priority and weight, else by the addresses of the host with the default port.
 *
 *
 * @throws {Error} When the name has no address.
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
  for (const { transport, name } of await services(uri, host, deps)) {
    const targets = await srvTargets(name, host, transport, deps);
    if (targets.length > 0) return targets;
  }
  const transport = asked ?? (uri.scheme === 'sips' ? 'tls' : 'udp');
  return addressTargets(host, defaultPort(transport), transport, host, deps);
}

/**
 * Sorts by priority, and within one priority randomly by weight.
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

/** The system resolver; addresses also come from the hosts file. */
export const systemDns: DnsQueries = {
  // A failure shows in the address lookup that follows.
  naptr: (name) => dns.resolveNaptr(name).catch(() => []),
  srv: (name) => dns.resolveSrv(name).catch(() => []),
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

/** The services of RFC 3263; others (WebSocket, SCTP) are not for us. */
const SERVICES: Readonly<Record<string, TransportName>> = {
  'SIP+D2U': 'udp',
  'SIP+D2T': 'tcp',
  'SIPS+D2T': 'tls',
};

/** Returns the names and transports for which to ask for SRV records. */
async function services(uri: SipUri, host: string, deps: ResolverDeps): Promise<Service[]> {
  const asked = askedTransport(uri);
  const named = (transport: TransportName) => ({
    transport,
    name: `${transport === 'tls' ? '_sips._tcp' : `_sip._${transport}`}.${host}`,
  });
  if (asked) return [named(asked)];
  const all = [...(await offered(host, deps)), ...deps.transports.map(named)];
  return all.filter(({ transport }) => uri.scheme !== 'sips' || transport === 'tls');
}

interface Service {
  readonly transport: TransportName;
  /** The name of the SRV records. */
  readonly name: string;
}

/** The transports that the domain offers and we support, in its order. */
async function offered(host: string, deps: ResolverDeps): Promise<Service[]> {
  const records = [...(await deps.dns.naptr(host))];
  records.sort((a, b) => a.order - b.order || a.preference - b.preference);
  return records.slice(0, MAX_TARGETS).flatMap(({ flags, service, replacement }) => {
    const transport = SERVICES[service.toUpperCase()];
    const isUsable = flags.toLowerCase() === 's' && transport && deps.transports.includes(transport);
    return isUsable ? [{ transport, name: replacement }] : [];
  });
}

async function srvTargets(
  name: string,
  host: string,
  transport: TransportName,
  deps: ResolverDeps,
): Promise<Target[]> {
  const records = orderSrv(await deps.dns.srv(name), () => deps.random());
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

/** The time for which resolved targets are cached. */
const CACHE_MS = 30_000;
const MAX_CACHED_NAMES = 1000;

/** Resolves a URI: address literals synchronously, names by DNS with a cache. */
export type Locate = (uri: SipUri) => Target[] | Promise<Target[]>;

export function createTargetResolver(
  transports: readonly TransportName[],
  clock: Clock,
  dns: DnsQueries,
): Locate {
  const cache = new Map<string, { targets: Target[]; untilMs: number }>();
  return (uri) => {
    const host = unbracketed(uri.params.get('maddr') ?? uri.host);
    const asked = uri.params.get('transport')?.toLowerCase();
    if (isIP(host) > 0) return [literal(uri, host, asked)];
    const key = `${uri.scheme} ${host} ${uri.port} ${asked}`;
    const known = cache.get(key);
    if (known && known.untilMs > clock.monotonicMs()) return [...known.targets];
    return resolveTargets(uri, { dns, transports, random: Math.random }).then((targets) => {
      if (cache.size >= MAX_CACHED_NAMES) cache.clear();
      cache.set(key, { targets, untilMs: clock.monotonicMs() + CACHE_MS });
      return [...targets];
    });
  };
}

function literal(uri: SipUri, address: string, asked: string | undefined): Target {
  const isTls = uri.scheme === 'sips' || asked === 'tls';
  const overStream = isTls ? 'tls' : 'tcp';
  const transport = isTls || asked === 'tcp' ? overStream : 'udp';
  return { transport, address, port: uri.port ?? (isTls ? 5061 : 5060) };
}
