import type { RatesStore } from '../../agents/cost/rates.ts';
import type { CostSum } from '../../calls/callStore.ts';
import type { Campaign } from '../../campaigns/campaign.ts';
import type { InsightStore } from '../insights/insightStore.ts';
import { readInsights } from '../insights/readInsights.ts';

/** Later than any session. */
const ALWAYS = '9999-01-01T00:00:00.000Z';

/** Returns what the calls of a campaign have cost by the insights, in the currency of the rates; undefined where none has a cost. */
export async function costOfCampaign(
  insights: InsightStore,
  rates: RatesStore,
  { id, projectId, createdAt, endedAt }: Campaign,
): Promise<CostSum | undefined> {
  const { total } = await readInsights(insights, projectId, {
    metric: 'cost',
    from: createdAt,
    to: ALWAYS,
    interval: 'week',
    groupBy: undefined,
    filter: { campaignId: id },
  });
  if (total.n === 0) return undefined;
  const held = await rates.at(projectId, endedAt ?? ALWAYS);
  return held && { total: total.value ?? 0, currency: held.currency };
}
