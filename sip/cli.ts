import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { parseArgs } from 'node:util';
import { DEFAULT_CONTROL_PORT, DEFAULT_HOST, DEFAULT_SIP_PORT, type SipServerOptions } from './options.ts';
import { type SipServer, startSipServer } from './server.ts';
import { trustList } from './transport/guard.ts';

/** An invalid argument; the message names it. */
class UsageError extends Error {
  readonly code = 'usage';
}

const USAGE = `callway-sip: a SIP server driven by drachtio's control protocol

  --host <address>            IP address to listen on (${DEFAULT_HOST})
  --port <port>               UDP and TCP (${DEFAULT_SIP_PORT})
  --tls-port <port>           TLS; needs --tls-cert and --tls-key
  --tls-cert <file>  --tls-key <file>  --tls-ca <file>
  --tls-no-verify             do not verify the certificates of servers
  --public-address <address>  address for peers beyond this machine
  --control-host <address>    IP address of the control port (${DEFAULT_HOST})
  --control-port <port>       (${DEFAULT_CONTROL_PORT})
  --secret <text>             the applications' secret; or CALLWAY_SIP_SECRET in the environment
  --trusted <list>            addresses, address:port or networks without limits, comma-separated
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
  const tlsPort = values['tls-port'];
  const publicAddress = values['public-address'];
  return {
    host: addressOf('--host', values.host, DEFAULT_HOST),
    port: portOf('--port', values.port, DEFAULT_SIP_PORT),
    tlsPort: tlsPort === undefined ? undefined : portOf('--tls-port', tlsPort, 0),
    publicAddress: publicAddress === undefined ? undefined : hostOf('--public-address', publicAddress),
    tls: tlsOf(values),
    control: {
      host: values['control-host'] ?? DEFAULT_HOST,
      port: portOf('--control-port', values['control-port'], DEFAULT_CONTROL_PORT),
      secret,
    },
    trusted: sourcesOf('--trusted', values.trusted ?? ''),
  };
}

/** Environment and output of the command. */
export interface CliContext {
  readonly environment: NodeJS.ProcessEnv;
  write(text: string): void;
  writeError(text: string): void;
}

/**
 * Runs `callway-sip` until SIGTERM or SIGINT.
 *
 * @returns The exit code: 0 after a signal or for help, 1 when the server cannot start, 2 for an invalid argument.
 */
export async function runSipServer(args: readonly string[], context: CliContext): Promise<0 | 1 | 2> {
  if (args.includes('--help') || args.includes('-h')) {
    context.write(USAGE);
    return 0;
  }
  let server: SipServer;
  try {
    server = await startSipServer(readArguments(args, context.environment));
  } catch (error) {
    context.writeError(`callway-sip: ${messageOf(error)}\n`);
    if (!(error instanceof UsageError)) return 1;
    context.writeError(USAGE);
    return 2;
  }
  const ports = server.sipPorts.map(({ transport, address, port }) => `${transport}/${address}:${port}`);
  context.write(`SIP on ${ports.join(', ')}; applications on port ${server.controlPort}\n`);
  await signalled();
  await server.close();
  return 0;
}

/** Resolves on the first signal; a second one ends the process at once. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
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
    throw new UsageError(messageOf(error));
  }
}

function portOf(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`${name} must be 0 to 65535, not "${text}"`);
  return port;
}

function addressOf(name: string, text: string | undefined, fallback: string): string {
  if (text === undefined || isIP(text) > 0) return text ?? fallback;
  throw new UsageError(`${name} must be an IP address, not "${text}"`);
}

function hostOf(name: string, text: string): string {
  if (isIP(text) > 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text)) return text;
  throw new UsageError(`${name} must be an IP address or a host name, not "${text}"`);
}

function sourcesOf(name: string, text: string): string[] {
  const sources = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  try {
    trustList(sources);
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}`);
  }
  return sources;
}

function tlsOf(values: ReturnType<typeof parse>): SipServerOptions['tls'] & object {
  const cert = readText('--tls-cert', values['tls-cert']);
  const key = readText('--tls-key', values['tls-key']);
  const ca = readText('--tls-ca', values['tls-ca']);
  const isWanted = [values['tls-port'], cert, key].some((given) => given !== undefined);
  if (isWanted && (cert === undefined || key === undefined))
    throw new UsageError('--tls-port, --tls-cert and --tls-key belong together');
  try {
    createSecureContext({ cert, key, ca });
  } catch (error) {
    throw new UsageError(
      `--tls-cert, --tls-key and --tls-ca must be matching PEM files: ${messageOf(error)}`,
    );
  }
  return { cert, key, ca, verify: !values['tls-no-verify'] };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readText(name: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}`);
  }
}
