import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { type Config, loadConfig } from '../app/settings/config.ts';
import { type CliContext, CommandError, EXIT } from './command.ts';
import { configuredAddress, isLoopback, parseAddress } from './serviceAddress.ts';

/** The address of the service, and the admin token. */
export interface Connection {
  /** The service's URL, which does not end with a slash. */
  readonly url: string;
  readonly token: string;
  /** Whether it is a project's key, not the admin token. */
  readonly isKey?: true;
}

/**
 * Finds the service and the admin token: from the user, else from the service's settings. The token in DATA_DIR belongs
 * to the service on this machine and is sent nowhere else.
 *
 * @param url - The option `--url`.
 * @param key - A project's key, to be used instead of the admin token.
 * @throws {CommandError} When there is no token, or the address is malformed.
 */
export async function connect(
  context: Pick<CliContext, 'environment'>,
  url: string | undefined,
  key?: string,
): Promise<Connection> {
  const { environment } = context;
  const given = url !== undefined ? parseAddress(url, '--url') : addressInEnvironment(environment);
  if (key !== undefined)
    return { url: given ?? configuredAddress(loadConfig(environment)), token: key, isKey: true };
  const token = environment.CALLWAY_ADMIN_TOKEN?.trim();
  if (given !== undefined && token) return { url: given, token };

  const config = loadConfig(environment);
  const configured = given ?? configuredAddress(config);
  if (config.CALLWAY_ADMIN_TOKEN !== undefined) return { url: configured, token: config.CALLWAY_ADMIN_TOKEN };
  if (given !== undefined && !isLoopback(given)) {
    throw new CommandError(
      EXIT.noPermission,
      `Set CALLWAY_ADMIN_TOKEN to the admin token of ${given}; the token in ${config.DATA_DIR} belongs to this machine's service.`,
    );
  }
  return { url: configured, token: await storedToken(config) };
}

function addressInEnvironment(environment: CliContext['environment']): string | undefined {
  const url = environment.CALLWAY_URL?.trim();
  return url ? parseAddress(url, 'CALLWAY_URL') : undefined;
}

async function storedToken(config: Config): Promise<string> {
  const file = join(config.DATA_DIR, 'admin-token');
  const advice =
    'Run this in the service’s folder, as its user and with the same DATA_DIR, or set CALLWAY_ADMIN_TOKEN.';
  try {
    const token = (await readFile(file, 'utf8')).trim();
    if (token !== '') return token;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing
      ? `There is no admin token in ${file}: the first start of the service creates it.`
      : `The admin token in ${file} cannot be read.`;
    throw new CommandError(EXIT.noPermission, `${reason} ${advice}`, { cause: error });
  }
  throw new CommandError(EXIT.noPermission, `${file} is empty. ${advice}`);
}
