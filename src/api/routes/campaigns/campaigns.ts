import { omitUndefined } from '../../../base/values/omitUndefined.ts';
import { mapPage } from '../../../base/values/page.ts';
import { requireNumber } from '../../../calls/numbers/number.ts';
import {
  campaignInput,
  campaignPatch,
  campaignResource,
  patchSettings,
  settingsFrom,
} from '../../../campaigns/campaign.ts';
import { wrongState } from '../../../campaigns/campaigns.ts';
import { shownCampaign } from '../../../campaigns/shown.ts';
import { costOfCampaign } from '../../../results/cost/costOfCampaign.ts';
import { crudRoutes } from '../../crud.ts';
import type { App, HttpDeps } from '../../ports.ts';

export const CAMPAIGNS_PATH = '/v1/projects/:projectId/campaigns';
const ACCESS = { kind: 'project', scope: 'calls' } as const;
const DESCRIPTION = `A campaign calls a list of people. It begins as \`draft\`: add contacts, then start it.
A call is placed within the windows of the campaign and within the project's \`callingHours\`, in the callee's own time zone; no contact is called twice at once, and none that is on a do-not-call list.`;

export function campaignRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Campaigns',
    noun: 'campaign',
    path: CAMPAIGNS_PATH,
    idParameter: 'campaignId',
    schema: campaignResource,
    quota: 'campaigns',
    list: {
      description: 'Newest first.',
      async run({ stores, projectId }, page) {
        return mapPage(await stores.campaigns.list(projectId, page), shownCampaign);
      },
    },
    create: {
      auditAction: 'campaign.created',
      access: ACCESS,
      description: DESCRIPTION,
      body: campaignInput.meta({
        id: 'NewCampaign',
        examples: [
          {
            name: 'Renewals, December',
            fromNumbers: ['+886223456789'],
            schedule: {
              windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '18:00' }],
            },
            pacing: { maxConcurrent: 5, callsPerMinute: 30 },
          },
        ],
      }),
      async run({ stores, projectId, id, now }, input) {
        const campaign = await stores.campaigns.insert({
          ...settingsFrom({ ...input, fromNumbers: normalized(input.fromNumbers) }),
          id,
          projectId,
          name: input.name,
          description: input.description ?? null,
          status: 'draft',
          statusReason: null,
          placed: 0,
          pacedAt: null,
          recentOutcomes: '',
          createdAt: now,
          startedAt: null,
          endedAt: null,
        });
        return shownCampaign(campaign);
      },
      auditDetails: ({ name }) => ({ name }),
    },
    get: {
      async run({ stores, projectId, id }) {
        const found = await stores.campaigns.find(projectId, id);
        const { insights } = deps.storage;
        return found && { ...shownCampaign(found), cost: await costOfCampaign(insights, found) };
      },
    },
    update: {
      auditAction: 'campaign.updated',
      access: ACCESS,
      methods: ['PATCH'],
      description:
        'Only the supplied fields change; those of `schedule`, `pacing`, `retry` and `pauseWhen` one by one. Name and description can be changed always, the others while it is `draft` or `paused`: else 409 `campaign_state`.',
      errors: [409],
      body: campaignPatch.meta({ id: 'CampaignPatch', examples: [{ pacing: { callsPerMinute: 10 } }] }),
      async run({ stores, projectId, id }, patch) {
        const found = await stores.campaigns.find(projectId, id, 'for update');
        if (!found) return undefined;
        const { name, description, ...others } = omitUndefined(patch);
        const hasOthers = Object.keys(others).length > 0;
        if (hasOthers && found.status !== 'draft' && found.status !== 'paused')
          throw wrongState(found, 'has only its name and description changed');
        const fromNumbers = others.fromNumbers && normalized(others.fromNumbers);
        const settings = hasOthers ? patchSettings(found, { ...others, fromNumbers }) : undefined;
        await stores.campaigns.update(found, { name, description, settings });
        return shownCampaign({ ...found, ...settings, ...omitUndefined({ name, description }) });
      },
    },
    remove: {
      auditAction: 'campaign.deleted',
      access: ACCESS,
      description:
        'With its contacts; its calls stay. 409 `campaign_state` while it runs: pause or cancel it first.',
      errors: [409],
      async run({ stores: { campaigns }, projectId, id }) {
        const campaign = await campaigns.find(projectId, id, 'for update');
        if (campaign?.status === 'running')
          throw wrongState(campaign, 'cannot be deleted: pause or cancel it');
        return await campaigns.remove(projectId, id);
      },
    },
  });
}

/** @throws {CallwayError} 400 `invalid_number` */
function normalized(fromNumbers: readonly string[]): string[] {
  return [...new Set(fromNumbers.map((number, index) => requireNumber(number, `fromNumbers/${index}`)))];
}
