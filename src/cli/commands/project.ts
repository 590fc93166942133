import type { Command } from 'commander';

import { project } from '../../agents/accounts/project.ts';
import { type AdminOptions, openSession, withAdminOptions } from '../adminCommand.ts';
import { read } from '../apiClient.ts';
import type { CliContext } from '../context.ts';
import { table } from '../table.ts';

export function projectCommands(program: Command, context: CliContext): void {
  const group = program.command('project').description('make, list and delete projects');

  withAdminOptions(group.command('create'))
    .description('make a project, with an agent and a short pathway to begin with')
    .requiredOption('--name <name>', 'its display name')
    .action(async (options: AdminOptions & { name: string }) => {
      const { api, connection, show } = await openSession(context, options);
      const made = read(
        project,
        await api.request('POST', '/v1/projects', { name: options.name }),
        connection,
      );
      show(made, () =>
        [
          `Made project ${made.id} (${made.name}).`,
          `Next, a key for it: callway key create --project ${made.id} --kind secret\n`,
        ].join('\n'),
      );
    });

  withAdminOptions(group.command('list'))
    .description('list all projects')
    .action(async (options: AdminOptions) => {
      const { api, show } = await openSession(context, options);
      const projects = await api.list('/v1/projects', project);
      show(projects, () =>
        projects.length === 0
          ? 'There are no projects yet. Make one: callway project create --name NAME\n'
          : table([['ID', 'CREATED', 'NAME'], ...projects.map((one) => [one.id, one.createdAt, one.name])]),
      );
    });

  withAdminOptions(group.command('delete'))
    .description('delete a project with everything that belongs to it; its keys end at once')
    .argument('<id>', 'the project')
    .action(async (id: string, options: AdminOptions) => {
      const { api, show } = await openSession(context, options);
      await api.request('DELETE', `/v1/projects/${encodeURIComponent(id)}`);
      show({ id, deleted: true }, () => `Deleted project ${id} and all that belonged to it.\n`);
    });
}
