import { lookup, Resolver } from 'node:dns/promises';

const SERVICES = ['_sip._udp', '_sip._tcp', '_sips._tcp'];
const QUERY_TIMEOUT_MS = 2000;

/**
 * All addresses that a SIP host name may stand for, by itself and by its SRV records.
 *
 * @throws {Error} When there is none.
 * @see RFC 3263 section 4.2
 */
export async function resolveSipHost(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: 1 });
  const services = await Promise.allSettled(
    SERVICES.map((service) => resolver.resolveSrv(`${service}.${host}`)),
  );
  const targets = services.flatMap((one) =>
    one.status === 'fulfilled' ? one.value.map(({ name }) => name) : [],
  );
  const names = [...new Set([host, ...targets])];
  const found = await Promise.allSettled(names.map((name) => lookup(name, { all: true })));
  const addresses = found.flatMap((one) =>
    one.status === 'fulfilled' ? one.value.map(({ address }) => address) : [],
  );
  if (addresses.length === 0) throw new Error(`${host} has no address`);
  return [...new Set(addresses)];
}
