import type { Command } from 'commander';
import { type ApiOptions, type ApiSession, sessionOver, withApiOptions } from './apiSession.ts';
import { type CliContext, CommandError, EXIT } from './command.ts';
import { connect } from './connection.ts';

/** A connection to the API of one project. */
export interface ProjectSession extends ApiSession {
  /** `/v1/projects/{id}`. */
  readonly path: string;
}

export interface ProjectOptions extends ApiOptions {
  readonly project?: string;
  readonly key?: string;
}

/** Adds the options of a command that a project's key may do. */
export function ofProject(command: Command): Command {
  return withApiOptions(
    command
      .option('--project <id>', 'id of the project (default: CALLWAY_PROJECT)')
      .option('--key <key>', 'a key of the project (default: CALLWAY_KEY, or the admin token)'),
  );
}

/**
 * Opens a session with a key of the project, or else with the admin token. @throws {CommandError} When the project or
 * the credential is missing.
 */
export async function openProject(context: CliContext, options: ProjectOptions): Promise<ProjectSession> {
  const project = options.project ?? context.environment.CALLWAY_PROJECT?.trim();
  if (!project)
    throw new CommandError(
      EXIT.usage,
      'Name the project with --project or CALLWAY_PROJECT; "callway project list" shows them.',
    );
  const key = options.key ?? context.environment.CALLWAY_KEY?.trim();
  const connection = await connect(context, options.url, key || undefined);
  return {
    ...sessionOver(context, connection, options),
    path: `/v1/projects/${encodeURIComponent(project)}`,
  };
}
