import type { Command } from 'commander';

import { project } from '../../agents/accounts/project.ts';
import { parseResponse } from '../apiClient.ts';
import { type ApiOptions, openAsAdmin, withApiOptions } from '../apiSession.ts';
import type { CliContext } from '../command.ts';
import { table } from '../table.ts';

export function projectCommands(program: Command, context: CliContext): void {
  const group = program.command('project').description('create, list and delete projects');

  withApiOptions(group.command('create'))
    .description('create a project, with an agent and a short pathway')
    .requiredOption('--name <name>', 'display name')
    .action(async (options: ApiOptions & { name: string }) => {
      const { api, connection, show } = await openAsAdmin(context, options);
      const created = parseResponse(
        project,
        await api.request('POST', '/v1/projects', { name: options.name }),
        connection,
      );
      show(created, () =>
        [
          `Created project ${created.id} (${created.name}).`,
          `Next, create a key: callway key create --project ${created.id} --kind secret\n`,
        ].join('\n'),
      );
    });

  withApiOptions(group.command('list'))
    .description('list all projects')
    .action(async (options: ApiOptions) => {
      const { api, show } = await openAsAdmin(context, options);
      const projects = await api.list('/v1/projects', project);
      show(projects, () =>
        projects.length === 0
          ? 'There are no projects yet. Create one: callway project create --name NAME\n'
          : table([['ID', 'CREATED', 'NAME'], ...projects.map((one) => [one.id, one.createdAt, one.name])]),
      );
    });

  withApiOptions(group.command('delete'))
    .description('delete a project and everything that belongs to it; its keys are refused at once')
    .argument('<id>', 'id of the project')
    .action(async (id: string, options: ApiOptions) => {
      const { api, show } = await openAsAdmin(context, options);
      await api.request('DELETE', `/v1/projects/${encodeURIComponent(id)}`);
      show({ id, deleted: true }, () => `Deleted project ${id} and everything that belonged to it.\n`);
    });
}
