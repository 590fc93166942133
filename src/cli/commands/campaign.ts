import type { Command } from 'commander';
import { type CampaignResource, campaignResource } from '../../campaigns/campaign.ts';
import { parseResponse } from '../apiClient.ts';
import { toMapping, toWindows } from '../campaignOptions.ts';
import { type CampaignRunOptions, countsOf, startCampaign, watchCampaign } from '../campaignRun.ts';
import { type CliContext, EXIT, type ExitCode } from '../command.ts';
import { ofProject, openProject, type ProjectOptions } from '../projectSession.ts';
import { table } from '../table.ts';
import { runData } from './test.ts';

const CHANGES = {
  pause: 'place no further call; calls in progress go on',
  resume: 'go on with a paused campaign',
  cancel: 'end a campaign; contacts that are left are skipped',
} as const;

/** @param setExitCode - Called with the exit code of a watched campaign that was not completed. */
export function campaignCommands(
  program: Command,
  context: CliContext,
  setExitCode: (code: ExitCode) => void,
): void {
  const group = program.command('campaign').description('call a list of people');
  runCommand(group, context, setExitCode);

  ofProject(group.command('list'))
    .description('list the campaigns of the project')
    .action(async (options: ProjectOptions) => {
      const { api, path, show } = await openProject(context, options);
      const campaigns = await api.list(`${path}/campaigns`, campaignResource);
      show(campaigns, () =>
        campaigns.length === 0
          ? 'The project has no campaigns yet. Start one: callway campaign run LIST --map toNumber=COLUMN\n'
          : table([
              ['ID', 'STATUS', 'CONTACTS', 'NAME'],
              ...campaigns.map((one) => [one.id, statusOf(one), countsOf(one), one.name]),
            ]),
      );
    });

  ofProject(group.command('rehearse'))
    .description('play some contacts with simulated people; nobody is called')
    .argument('<id>', 'id of the campaign, from "campaign list"')
    .requiredOption('--contacts <n>', 'how many contacts are played', Number)
    .action(async (id: string, { contacts, ...options }: ProjectOptions & { contacts: number }) => {
      const { api, path, connection, show } = await openProject(context, options);
      const url = `${path}/campaigns/${encodeURIComponent(id)}/rehearse`;
      const { data } = parseResponse(runData, await api.request('POST', url, { contacts }), connection);
      show(data, () => `Started test run ${data.id} with ${data.cases.length} contacts.\n`);
    });

  for (const [change, description] of Object.entries(CHANGES)) {
    ofProject(group.command(change))
      .description(description)
      .argument('<id>', 'id of the campaign, from "campaign list"')
      .action(async (id: string, options: ProjectOptions) => {
        const { api, path, connection, show } = await openProject(context, options);
        const answer = await api.request('POST', `${path}/campaigns/${encodeURIComponent(id)}/${change}`);
        const campaign = parseResponse(campaignResource, answer, connection);
        show(campaign, () => `${campaign.name} is ${campaign.status}: ${countsOf(campaign)}.\n`);
      });
  }
}

function runCommand(group: Command, context: CliContext, setExitCode: (code: ExitCode) => void): void {
  ofProject(group.command('run'))
    .description('call the people of a list; with --watch the exit code is 0 once the campaign is completed')
    .argument('<list>', 'CSV or XLSX file with a header')
    .option(
      '--map <field=column>',
      'the column of toNumber, timezone, externalId or notBefore; once for each. The other columns are variables',
      toMapping,
    )
    .option('--from <number>', 'the number that calls (default: the only active one of the project)')
    .option('--name <name>', 'name of the campaign (default: that of the file)')
    .option(
      '--window <days from-to>',
      'when to call, such as "mon-fri 09:00-18:00", by the callee’s clock; may be repeated (default: the calling hours of the project)',
      toWindows,
    )
    .option('--watch', 'show the progress until the campaign is completed')
    .action(async (file: string, options: CampaignRunOptions) => {
      const session = await openProject(context, options);
      const { campaign, list } = await startCampaign(context, session, file, options);
      if (!options.watch) {
        session.show({ campaign, import: list }, () => startedText(campaign));
        return;
      }
      context.writeError(startedText(campaign));
      const ended = await watchCampaign(context, session, campaign.id, options);
      session.show({ campaign: ended, import: list }, () => endedText(ended));
      if (ended.status !== 'completed') setExitCode(EXIT.refused);
    });
}

function startedText({ id, name, counts }: CampaignResource): string {
  return `Started ${name} with ${counts.total} contacts. "callway campaign pause ${id}" pauses it.\n`;
}

function endedText(campaign: CampaignResource): string {
  const { id, name, status } = campaign;
  const advice = status === 'paused' ? ` "callway campaign resume ${id}" goes on with it.` : '';
  return `${name} is ${statusOf(campaign)}: ${countsOf(campaign)}.${advice}\n`;
}

function statusOf({ status, statusReason }: CampaignResource): string {
  return statusReason === undefined ? status : `${status} (${statusReason})`;
}
