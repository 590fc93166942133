import { type Command, InvalidArgumentError, Option } from 'commander';

import { apiKey, keyKind, scope } from '../../agents/accounts/apiKey.ts';
import { parseResponse } from '../apiClient.ts';
import { type ApiOptions, openAsAdmin, withApiOptions } from '../apiSession.ts';
import type { CliContext } from '../command.ts';
import { table } from '../table.ts';

const DEFAULT_NAME = 'command line';

const createdKey = apiKey.omit({ lastUsedAt: true }).extend({ key: apiKey.shape.hint });

interface KeyOptions extends ApiOptions {
  readonly project: string;
}

interface CreateOptions extends KeyOptions {
  readonly kind: string;
  readonly name: string;
  readonly scopes?: string[];
}

export function keyCommands(program: Command, context: CliContext): void {
  const group = program.command('key').description("create, list and revoke a project's keys");

  keyCommand(group.command('create'))
    .description('create a key; it is printed only once')
    .addOption(
      new Option('--kind <kind>', 'secret for servers, developer for people')
        .choices(keyKind.options)
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'the name of the key', DEFAULT_NAME)
    .option(
      '--scopes <list>',
      `scopes of a developer key, separated by commas: ${scope.options.join(', ')} (default: all but keys:write)`,
      parseScopes,
    )
    .action(async (options: CreateOptions) => {
      const { api, connection, show } = await openAsAdmin(context, options);
      const { name, kind, scopes } = options;
      const answer = await api.request('POST', pathOf(options), { name, kind, scopes });
      const created = parseResponse(createdKey, answer, connection);
      show(created, () =>
        [
          `Created the ${created.kind} key ${created.id} (${created.name}), with the scopes ${created.scopes.join(', ')}:`,
          '',
          `  ${created.key}`,
          '',
          'Save it now: it is shown only once and is not stored. Anyone with this key can act for the project.\n',
        ].join('\n'),
      );
    });

  keyCommand(group.command('list'))
    .description("list a project's keys, without the keys themselves")
    .action(async (options: KeyOptions) => {
      const { api, show } = await openAsAdmin(context, options);
      const keys = await api.list(pathOf(options), apiKey);
      show(keys, () =>
        keys.length === 0
          ? `The project has no keys yet. Create one: callway key create --project ${options.project} --kind secret\n`
          : table([
              ['ID', 'KIND', 'KEY', 'SCOPES', 'LAST USED', 'NAME'],
              ...keys.map((key) => [
                key.id,
                key.kind,
                key.hint,
                key.scopes.join(','),
                key.lastUsedAt ?? 'never',
                key.name,
              ]),
            ]),
      );
    });

  keyCommand(group.command('revoke'))
    .description('revoke a key; all nodes refuse it at once')
    .argument('<id>', 'id of the key, from "key list"')
    .action(async (id: string, options: KeyOptions) => {
      const { api, show } = await openAsAdmin(context, options);
      await api.request('DELETE', `${pathOf(options)}/${encodeURIComponent(id)}`);
      show({ id, revoked: true }, () => `Revoked key ${id}.\n`);
    });
}

function keyCommand(command: Command): Command {
  return withApiOptions(command.requiredOption('--project <id>', 'id of the project, from "project list"'));
}

function pathOf({ project }: KeyOptions): string {
  return `/v1/projects/${encodeURIComponent(project)}/api-keys`;
}

function parseScopes(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !scope.safeParse(name).success);
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `"${unknown}" is not a scope; the scopes are ${scope.options.join(', ')}.`,
    );
  }
  return names;
}
