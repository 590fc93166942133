import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { type Campaign, campaignInput, settingsFrom } from '../../../../src/campaigns/campaign.ts';
import { BEGIN, type SessionWorld } from './sessions.ts';

/** Stores a running campaign. @param input - Of the API, beside its name. */
export function insertCampaign(
  { projectId, stores }: Pick<SessionWorld, 'projectId' | 'stores'>,
  input: object = {},
  change: Partial<Campaign> = {},
): Promise<Campaign> {
  return stores.campaigns.insert({
    ...settingsFrom(campaignInput.parse({ name: 'c', ...input })),
    id: uuidV7(),
    projectId,
    name: 'c',
    description: null,
    status: 'running',
    statusReason: null,
    placed: 0,
    pacedAt: null,
    recentOutcomes: '',
    createdAt: BEGIN,
    startedAt: null,
    endedAt: null,
    ...change,
  });
}
