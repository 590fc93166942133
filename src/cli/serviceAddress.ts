import type { Config } from '../app/settings/config.ts';
import { CommandError, EXIT } from './command.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The address of the service with these settings, from this machine.
 *
 * @throws {CommandError} When PORT is 0.
 */
export function configuredAddress(config: Config): string {
  if (config.PORT === 0) {
    throw new CommandError(
      EXIT.usage,
      'PORT is 0, so the service uses any free port: set its address with --url or CALLWAY_URL.',
    );
  }
  return `http://${reachable(config.HOST)}:${config.PORT}`;
}

/** @returns The address without a trailing slash. @throws {CommandError} When it is not an HTTP URL. */
export function parseAddress(text: string, from: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) {
    throw new CommandError(
      EXIT.usage,
      `${from} must be an address like http://127.0.0.1:3000, not "${text}".`,
    );
  }
  return text.replace(/\/+$/, '');
}

export function isLoopback(address: string): boolean {
  return LOOPBACK.test(new URL(address).hostname);
}

/** Loopback for a service that listens on all addresses; IPv6 addresses in brackets. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
