import { z } from 'zod';

import { campaignResource } from '../../../campaigns/campaign.ts';
import { requireCampaign, TRANSITIONS, type Transition } from '../../../campaigns/campaigns.ts';
import { shownCampaign } from '../../../campaigns/shown.ts';
import { audit } from '../../audit.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';
import { CAMPAIGNS_PATH } from './campaigns.ts';

const WRONG_STATE = '409 `campaign_state` where its status does not allow it.';
const DESCRIPTIONS = {
  start:
    'Only a draft. 409 `campaign_not_startable` without contacts, without an active from number that has an active trunk, or without an hour in which it may call; `details` names each. ',
  pause: 'No call goes out from the answer on; calls in progress go on. ',
  resume: 'Goes on with a paused campaign. `pauseWhen` counts anew. ',
  cancel:
    'No call goes out from the answer on, and contacts that are left are skipped; calls in progress go on. A campaign that is canceled stays so. ',
} as const satisfies Record<Transition, string>;
const AUDITED = {
  start: 'campaign.started',
  pause: 'campaign.paused',
  resume: 'campaign.resumed',
  cancel: 'campaign.canceled',
} as const satisfies Record<Transition, string>;

export function campaignTransitionRoutes(app: App, deps: HttpDeps): void {
  for (const transition of TRANSITIONS) transitionRoute(app, deps, transition);
}

function transitionRoute(app: App, deps: HttpDeps, transition: Transition): void {
  const name = transition.charAt(0).toUpperCase() + transition.slice(1);
  app.post(
    `${CAMPAIGNS_PATH}/:campaignId/${transition}`,
    {
      config: { access: { kind: 'project', scope: 'calls' } },
      schema: {
        ...about('Campaigns', `${name} a campaign`, DESCRIPTIONS[transition] + WRONG_STATE),
        params: projectParams.extend({ campaignId: z.string() }),
        response: { 200: campaignResource, ...errors('body', 409) },
      },
    },
    async (request) => {
      const { projectId, campaignId } = request.params;
      const { campaigns } = deps.calls;
      const changed = await deps.storage.transaction(async (stores) => {
        const campaign = requireCampaign(await stores.campaigns.find(projectId, campaignId, 'for update'));
        const action = AUDITED[transition];
        await audit(deps, stores, request, { action, projectId, target: campaign.id });
        return await campaigns.change(stores, campaign, transition);
      });
      await campaigns.announce(changed, transition);
      return shownCampaign(changed);
    },
  );
}
