import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { type Config, loadConfig } from '../app/settings/config.ts';
import { CommandError, EXIT } from './commandError.ts';
import type { CliContext } from './context.ts';
import { configuredAddress, givenAddress, isLoopback } from './serviceAddress.ts';

/** Where the service is, and what lets its operator in. */
export interface Connection {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
}

/**
 * Finds the service and the admin token: what the user says, else what the settings of the service say. The token in
 * DATA_DIR belongs to the service on this machine and is sent nowhere else.
 *
 * @param url - The option `--url`.
 * @throws {CommandError} When the settings are needed and wrong, or no token is to be had.
 */
export async function connect(
  context: Pick<CliContext, 'environment'>,
  url: string | undefined,
): Promise<Connection> {
  const { environment } = context;
  const given = url !== undefined ? givenAddress(url, '--url') : givenInEnvironment(environment);
  const token = environment.CALLWAY_ADMIN_TOKEN?.trim();
  if (given !== undefined && token) return { url: given, token };

  const config = loadConfig(environment);
  const configured = given ?? configuredAddress(config);
  if (config.CALLWAY_ADMIN_TOKEN !== undefined) return { url: configured, token: config.CALLWAY_ADMIN_TOKEN };
  if (given !== undefined && !isLoopback(given)) {
    throw new CommandError(
      EXIT.noPermission,
      `Set CALLWAY_ADMIN_TOKEN to the admin token of ${given}; the one in ${config.DATA_DIR} is this machine's.`,
    );
  }
  return { url: configured, token: await keptToken(config) };
}

function givenInEnvironment(environment: CliContext['environment']): string | undefined {
  const url = environment.CALLWAY_URL?.trim();
  return url ? givenAddress(url, 'CALLWAY_URL') : undefined;
}

async function keptToken(config: Config): Promise<string> {
  const file = join(config.DATA_DIR, 'admin-token');
  const advice =
    'Run this in the folder where the service runs and as its user, with the same DATA_DIR, or set CALLWAY_ADMIN_TOKEN.';
  try {
    const token = (await readFile(file, 'utf8')).trim();
    if (token !== '') return token;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing
      ? `There is no admin token in ${file}: the first start of the service makes it.`
      : `The admin token in ${file} cannot be read.`;
    throw new CommandError(EXIT.noPermission, `${reason} ${advice}`, { cause: error });
  }
  throw new CommandError(EXIT.noPermission, `${file} is empty. ${advice}`);
}
