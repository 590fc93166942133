import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DEFAULT_CONTROL_PORT, DEFAULT_HOST, DEFAULT_SIP_PORT, type SipServerOptions } from './options.ts';
import { type SipServer, startSipServer } from './server.ts';

/** A wrong argument; the message names it. */
export class UsageError extends Error {
  readonly code = 'usage';
}

export const USAGE = `callway-sip: a SIP server driven by drachtio's control protocol

  --host <address>            where to listen (${DEFAULT_HOST})
  --port <port>               UDP and TCP (${DEFAULT_SIP_PORT})
  --tls-port <port>           TLS; needs --tls-cert and --tls-key
  --tls-cert <file>  --tls-key <file>  --tls-ca <file>
  --tls-no-verify             take any certificate of peers that we call
  --public-address <address>  what peers beyond this machine are told
  --control-host <address>    where applications connect (${DEFAULT_HOST})
  --control-port <port>       (${DEFAULT_CONTROL_PORT})
  --secret <text>             what applications must know; or CALLWAY_SIP_SECRET in the environment
  --trusted <list>            addresses, address:port or networks, comma-separated, that are never limited
`;

/**
 * Reads the command line.
 *
 * @throws {UsageError}
 */
export function readArguments(args: readonly string[], env: NodeJS.ProcessEnv): SipServerOptions {
  const values = parse(args);
  const secret = values.secret ?? env.CALLWAY_SIP_SECRET ?? '';
  if (secret === '') throw new UsageError('--secret (or CALLWAY_SIP_SECRET) must be given');
  const file = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path, 'utf8'));
  const tlsPort = values['tls-port'];
  return {
    host: values.host ?? DEFAULT_HOST,
    port: portOf('--port', values.port, DEFAULT_SIP_PORT),
    ...(tlsPort === undefined ? {} : { tlsPort: portOf('--tls-port', tlsPort, 0) }),
    ...(values['public-address'] === undefined ? {} : { publicAddress: values['public-address'] }),
    tls: {
      cert: file(values['tls-cert']),
      key: file(values['tls-key']),
      ca: file(values['tls-ca']),
      verify: !values['tls-no-verify'],
    },
    control: {
      host: values['control-host'] ?? DEFAULT_HOST,
      port: portOf('--control-port', values['control-port'], DEFAULT_CONTROL_PORT),
      secret,
    },
    trusted: (values.trusted ?? '').split(',').filter((entry) => entry !== ''),
  };
}

/** Runs until SIGTERM or SIGINT. */
export async function runSipServer(args: readonly string[]): Promise<SipServer> {
  const server = await startSipServer(readArguments(args, process.env));
  const stop = (): void => {
    server.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const ports = server.sipPorts.map(({ transport, address, port }) => `${transport}/${address}:${port}`);
  process.stdout.write(`SIP on ${ports.join(', ')}; applications on port ${server.controlPort}\n`);
  return server;
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        host: text,
        port: text,
        'tls-port': text,
        'tls-cert': text,
        'tls-key': text,
        'tls-ca': text,
        'tls-no-verify': { type: 'boolean' },
        'public-address': text,
        'control-host': text,
        'control-port': text,
        secret: text,
        trusted: text,
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function portOf(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`${name} must be 0 to 65535, not "${text}"`);
  return port;
}
