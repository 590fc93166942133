import type { Command } from 'commander';

import { type ApiClient, createApiClient } from './apiClient.ts';
import { type Connection, connect } from './connection.ts';
import type { CliContext } from './context.ts';

/** The options that every command over the API has. */
export interface AdminOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** What such a command works with. */
export interface AdminSession {
  readonly api: ApiClient;
  readonly connection: Connection;
  /** Writes the result: as JSON where that was asked for, else as people read it. */
  readonly show: (value: unknown, human: () => string) => void;
}

export function withAdminOptions(command: Command): Command {
  return command
    .option('--url <address>', 'address of the service (else CALLWAY_URL, else HOST and PORT)')
    .option('--json', 'print JSON, for programs');
}

export async function openSession(context: CliContext, options: AdminOptions): Promise<AdminSession> {
  const connection = await connect(context, options.url);
  return {
    connection,
    api: createApiClient(connection, context.fetch),
    show: (value, human) => context.write(options.json ? `${JSON.stringify(value, null, 2)}\n` : human()),
  };
}
