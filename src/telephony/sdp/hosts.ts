import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock } from '../../base/values/clock.ts';
import { isZero, type RemoteStream, unusable, WARNING } from './read.ts';

/** Resolves all addresses of a host name; none when it is unknown or not resolved in time. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The longest wait. The caller hears ringing meanwhile; a person who has answered the phone does not wait longer. */
const RESOLVE_TIMEOUT_MS = 3000;
/** A description has one or two; more would keep the resolver busy. */
const MAX_NAMES = 4;
/**
 * Matches host names, which need a letter: the system's resolver accepts short forms of addresses, such as `127.1`, as
 * names.
 */
const HOST_NAME = /^(?=.*[a-z])[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9.])?$/i;

type Lookup = (host: string, options: { readonly all: true }) => Promise<readonly { address: string }[]>;

/** The system's resolver, with a time limit. */
export function createHostResolver(clock: Clock, find: Lookup = lookup): ResolveHost {
  return async (host) => {
    let addresses: string[] = [];
    const finding = find(host, { all: true }).then((found) => {
      addresses = found.map(({ address }) => address);
    });
    await withTimeout(clock, finding, RESOLVE_TIMEOUT_MS);
    return addresses;
  };
}

/**
 * Gives each audio stream a literal address that packets from `localAddress` reach, or the reason why there is none.
 *
 * @see RFC 8866 section 5.7
 */
export async function withAddresses(
  streams: readonly RemoteStream[],
  localAddress: string,
  resolveHost: ResolveHost,
): Promise<RemoteStream[]> {
  const hosts = streams.flatMap(({ audio }) => (audio && isIP(audio.address) === 0 ? [audio.address] : []));
  const names = [...new Set(hosts)].filter((host) => HOST_NAME.test(host)).slice(0, MAX_NAMES);
  const found = new Map(
    await Promise.all(names.map(async (name) => [name, await resolveHost(name)] as const)),
  );
  return streams.map((stream) => {
    const { audio } = stream;
    if (!audio || audio.isZero) return stream;
    const addresses = isIP(audio.address) ? [audio.address] : (found.get(audio.address) ?? []);
    const address = addresses.find((one) => isIP(one) === isIP(localAddress));
    if (address !== undefined) return { ...stream, audio: { ...audio, address, isZero: isZero(address) } };
    return { ...stream, audio: undefined, error: unreachable(audio.address, addresses) };
  });
}

function unreachable(host: string, [address]: readonly string[]): Error {
  if (address === undefined) return unusable(`its host ${JSON.stringify(host)} has no address`);
  return unusable(`its audio is at IPv${isIP(address)} only`, WARNING.networkProtocol);
}
