/** The parsed form of `REDIS_URL`. */
export type RedisAddress =
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel';
      readonly sentinels: readonly HostPort[];
      readonly masterName: string;
      readonly credentials: Credentials;
    }
  | {
      readonly kind: 'cluster';
      readonly nodes: readonly HostPort[];
      readonly tls: boolean;
      readonly credentials: Credentials;
    };

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26_379;

/**
 * Parses `redis://`, `rediss://`, `redis+sentinel://user:password@host,host/master` and
 * `redis[s]+cluster://host,host`.
 *
 * @throws {Error} When a sentinel address has no master name.
 */
export function parseRedisAddress(url: string): RedisAddress {
  const [, scheme = '', authority = '', rest = ''] = /^([a-z+]+):\/\/([^/]*)\/?(.*)$/.exec(url) ?? [];
  if (!scheme.includes('+')) return { kind: 'single', url };
  const at = authority.lastIndexOf('@');
  const credentials = parseCredentials(at < 0 ? '' : authority.slice(0, at));
  const hosts = authority.slice(at + 1).split(',');
  if (scheme.endsWith('+cluster')) {
    const nodes = hosts.map((host) => parseHost(host, DEFAULT_PORT));
    return { kind: 'cluster', nodes, tls: scheme.startsWith('rediss'), credentials };
  }
  const masterName = rest.split('?')[0] ?? '';
  if (masterName === '')
    throw new Error('REDIS_URL: a sentinel address must end with the name of its master');
  return {
    kind: 'sentinel',
    sentinels: hosts.map((host) => parseHost(host, DEFAULT_SENTINEL_PORT)),
    masterName,
    credentials,
  };
}

function parseCredentials(text: string): Credentials {
  const colon = text.indexOf(':');
  const username = decodeURIComponent(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? '' : decodeURIComponent(text.slice(colon + 1));
  return { ...(username && { username }), ...(password && { password }) };
}

function parseHost(text: string, defaultPort: number): HostPort {
  const { hostname, port } = new URL(`http://${text}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) };
}
