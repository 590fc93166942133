import type { CostSum } from '../../calls/callStore.ts';
import type { Campaign } from '../../campaigns/campaign.ts';
import type { InsightStore } from '../insights/insightStore.ts';
import { readInsights } from '../insights/readInsights.ts';

/** Later than any session. */
const ALWAYS = '9999-01-01T00:00:00.000Z';

/** Returns what the calls of a campaign have cost by the insights; undefined where none has a cost. */
export async function costOfCampaign(
  insights: InsightStore,
  { id, projectId, createdAt }: Campaign,
): Promise<CostSum | undefined> {
  const { total } = await readInsights(insights, projectId, {
    metric: 'cost',
    from: createdAt,
    to: ALWAYS,
    interval: 'week',
    groupBy: undefined,
    filter: { campaignId: id },
  });
  const [sum, ...others] = [total, ...(total.others ?? [])].flatMap(({ value, currency }) =>
    value == null || currency === undefined ? [] : { total: value, currency },
  );
  return sum && { ...sum, others: others.length > 0 ? others : undefined };
}
