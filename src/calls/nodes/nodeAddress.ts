import { networkInterfaces } from 'node:os';

const WILDCARD_ADDRESSES: readonly string[] = ['0.0.0.0', '::'];

/** `http://host:port`, with brackets around an IPv6 address. */
export function httpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The address at which this machine reaches a server that listens on `host`. */
export function localAddress(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** The address at which other machines reach it: for a wildcard, the first external address of this machine. */
export function advertisedAddress(host: string, interfaces = networkInterfaces()): string {
  if (!WILDCARD_ADDRESSES.includes(host)) return host;
  const family = host === '::' ? 'IPv6' : 'IPv4';
  const external = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    // A link-local address is not reachable without its interface.
    .find((one) => one.family === family && !one.internal && !one.address.startsWith('fe80:'));
  return external?.address ?? localAddress(host);
}
