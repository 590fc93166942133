import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { requireCampaign } from '../../../campaigns/campaigns.ts';
import { rehearsalInput } from '../../../testing/rehearsal/rehearsal.ts';
import { runInput } from '../../../testing/runs/testRun.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';
import { answer, startRun } from '../agent/testRuns.ts';
import { CAMPAIGNS_PATH } from './campaigns.ts';

const SEEDS = 2 ** 31;
const DESCRIPTION = `Plays contacts of a campaign against the live agent, as a test run: poll \`GET …/test-runs/{id}\` until \`endedAt\` is set.
Simulated people take the calls, over no trunk: by the seed a person answers, asks for no more calls, or a machine answers, the line is busy, or rings without an answer. In the last two cases no call is placed. A case passes when the outcome is what was simulated.
Nothing of it counts in the campaign or its quotas, lists a number, sends a webhook or is told as an event of a call; tools are not called. It needs no active number, and no open hour. 409 \`no_contacts\` where none is still to be called; 409 \`campaign_state\` where the campaign is over.`;

export function campaignRehearsalRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${CAMPAIGNS_PATH}/:campaignId/rehearse`,
    {
      config: { access: { kind: 'project', scope: 'calls' } },
      schema: {
        ...about('Campaigns', 'Rehearse a campaign', DESCRIPTION),
        params: projectParams.extend({ campaignId: z.string() }),
        body: rehearsalInput,
        response: { 202: answer, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId, campaignId } = request.params;
      const { contacts, seed = randomInt(SEEDS) } = request.body;
      const { stores } = deps.storage;
      const campaign = requireCampaign(await stores.campaigns.find(projectId, campaignId));
      const { tests } = deps.agents;
      const subject = await tests.rehearsal(stores.campaignContacts, campaign, contacts, seed);
      return await startRun(deps, request, reply, subject, runInput.parse({ seed }));
    },
  );
}
