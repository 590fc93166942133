import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import { type SipUri, unbracketed } from '../message/fields/uri.ts';
import { type DnsQueries, resolveTargets, type Target } from './resolver.ts';
import type { TransportName } from './types.ts';

/** Names are asked for again after this long: a trunk that moves is found again. */
const CACHE_MS = 30_000;
const MAX_CACHED_NAMES = 1000;

/** Where a request for a URI may go: address literals at once, names by DNS, remembered for a while. */
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
