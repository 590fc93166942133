import { Campaigns } from '../../campaigns/campaigns.ts';
import type { NodeContext } from '../node/node.ts';
import type { BuiltCalls } from './calls.ts';

/** Campaigns; nodes of the role `worker` also place their calls. */
export function buildCampaigns({ clock, makeId }: NodeContext, { limiter }: BuiltCalls): Campaigns {
  return new Campaigns({
    destinations: (projectId) => limiter.destinationRefusals(projectId),
    clock,
    makeId,
  });
}
