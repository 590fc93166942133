import type { Config } from '../app/settings/config.ts';
import { CommandError, EXIT } from './commandError.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Where the service of these settings is reached from this machine.
 *
 * @throws {CommandError} When the port is not known beforehand.
 */
export function configuredAddress(config: Pick<Config, 'HOST' | 'PORT'>): string {
  if (config.PORT === 0) {
    throw new CommandError(
      EXIT.usage,
      'PORT is 0, so that the service takes any free port: name its address with --url or CALLWAY_URL.',
    );
  }
  return `http://${reachable(config.HOST)}:${config.PORT}`;
}

/** Reads an address that a user gave. @returns It, without a slash at its end. */
export function givenAddress(text: string, from: string): string {
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

/** Who listens on every address is reached over loopback; an IPv6 address wants its brackets. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
