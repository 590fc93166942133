import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';

import type { App } from '../api/ports.ts';

const ALL_ADDRESSES: readonly string[] = ['0.0.0.0', '::'];

/** `http://host:port` of a server that listens. */
export function addressOf(app: App | undefined, host: string): string {
  const address = app?.server.address() as AddressInfo | null | undefined;
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${address?.port ?? 0}`;
}

/** Where this machine itself reaches what listens on all of its addresses. */
export function reachableHere(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Where other machines reach it: the first address that is not this machine's alone, where there is one. */
export function reachableFromAfar(host: string, interfaces = networkInterfaces()): string {
  if (!ALL_ADDRESSES.includes(host)) return host;
  const family = host === '::' ? 'IPv6' : 'IPv4';
  const own = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    // A link-local address says nothing without its link.
    .find((one) => one.family === family && !one.internal && !one.address.startsWith('fe80:'));
  return own?.address ?? reachableHere(host);
}
