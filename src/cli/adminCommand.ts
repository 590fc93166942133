import type { Command } from 'commander';

import { type ApiClient, createApiClient } from './apiClient.ts';
import type { CliContext } from './command.ts';
import { type Connection, connect } from './connection.ts';

/** The options of every command that uses the API. */
export interface AdminOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** A command's connection to the API. */
export interface AdminSession {
  readonly api: ApiClient;
  readonly connection: Connection;
  /** Writes the result, as JSON with the option `--json`. */
  readonly show: (value: unknown, human: () => string) => void;
}

export function withAdminOptions(command: Command): Command {
  return command
    .option('--url <address>', 'address of the service (default: CALLWAY_URL, or HOST and PORT)')
    .option('--json', 'print JSON');
}

export async function openSession(context: CliContext, options: AdminOptions): Promise<AdminSession> {
  const connection = await connect(context, options.url);
  return {
    connection,
    api: createApiClient(connection, context.fetch),
    show: (value, human) => context.write(options.json ? `${JSON.stringify(value, null, 2)}\n` : human()),
  };
}
