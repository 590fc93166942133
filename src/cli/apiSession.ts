import { type Command, Option } from 'commander';

import { type ApiClient, createApiClient } from './apiClient.ts';
import type { CliContext } from './command.ts';
import { type Connection, connect } from './connection.ts';

/** The options of every command that uses the API. */
export interface ApiOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** A command's connection to the API. */
export interface ApiSession {
  readonly api: ApiClient;
  readonly connection: Connection;
  /** Writes the result, as JSON with the option `--json`. */
  readonly show: (value: unknown, human: () => string) => void;
}

export function withApiOptions(command: Command): Command {
  return command
    .option('--url <address>', 'address of the service (default: CALLWAY_URL, or HOST and PORT)')
    .option('--json', 'print JSON');
}

/** Lets these options stand before the command's name too: `callway --url ADDRESS project list`. */
export function withLeadingApiOptions(program: Command): void {
  for (const ancestor of [program, ...program.commands.filter(({ commands }) => commands.length > 0)]) {
    ancestor.addOption(new Option('--url <address>').hideHelp()).addOption(new Option('--json').hideHelp());
  }
  program.hook('preAction', (_, action) => {
    const given: Record<string, unknown> = action.optsWithGlobals();
    for (const name of ['url', 'json']) action.setOptionValue(name, action.opts()[name] ?? given[name]);
  });
}

/** Opens a session with the admin token. @see openProject for a project's key */
export async function openAsAdmin(context: CliContext, options: ApiOptions): Promise<ApiSession> {
  return sessionOver(context, await connect(context, options.url), options);
}

export function sessionOver(context: CliContext, connection: Connection, options: ApiOptions): ApiSession {
  return {
    connection,
    api: createApiClient(connection, context.fetch),
    show: (value, human) => context.write(options.json ? `${JSON.stringify(value, null, 2)}\n` : human()),
  };
}
