import { queryOptions, useQuery } from '@tanstack/react-query';

import { useApi } from '../../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../../api/client.ts';
import { type LiveEventType, useLiveRefresh } from '../../../api/liveEvents.ts';
import type { components } from '../../../api/schema.d.ts';
import { formatNumber } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { formatMetric, isShare, metricTexts } from '../insightData.ts';
import type { Metric } from '../insightSearch.ts';

export type Alert = components['schemas']['Alert'];
export type AlertMetric = Alert['metric'];

/** Alerts are looked at once a minute. */
const REFRESH_MS = 60_000;
/** More than a project may have. */
const MOST = '200';

/** In the order in which they are offered. */
export const ALERT_METRICS = [
  'success',
  'evaluation',
  'answered',
  'error',
  'latencyP95',
  'toolFailures',
  'interruptions',
  'transfers',
  'duration',
  'sessions',
  'calls',
  'minutes',
  'turns',
  'cost',
] as const satisfies (AlertMetric & Metric)[];

const texts = textsIn({
  en: {
    above: (metric: string, value: string, minutes: string) =>
      `${metric} above ${value} within ${minutes} min`,
    below: (metric: string, value: string, minutes: string) =>
      `${metric} below ${value} within ${minutes} min`,
  },
  'zh-TW': {
    above: (metric: string, value: string, minutes: string) => `${minutes} 分鐘內${metric}高於 ${value}`,
    below: (metric: string, value: string, minutes: string) => `${minutes} 分鐘內${metric}低於 ${value}`,
  },
});

/** When an alert fires, in words. */
export function conditionText({ metric, above, below, windowMinutes }: Alert): string {
  const minutes = formatNumber(windowMinutes);
  const value = formatMetric(metric, above ?? below ?? 0, undefined);
  return (above === undefined ? texts.below : texts.above)(metricTexts[metric], value, minutes);
}

/** What a person enters for a bound: shares in percent. */
export const percentsOf = (metric: Metric): number => (isShare(metric) ? 100 : 1);

const EVENTS = ['alert.firing', 'alert.resolved'] as const satisfies LiveEventType[];

/** All alerts of a project, which are read again when one begins to fire or is over. */
export function useAlerts(projectId: string) {
  const api = useApi();
  useLiveRefresh(projectId, EVENTS, [['alerts', projectId]]);
  return useQuery(alertsQuery(api, projectId));
}

const alertsQuery = (api: Api, projectId: string) =>
  queryOptions({
    queryKey: ['alerts', projectId],
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/v1/projects/{projectId}/alerts', {
            params: { path: { projectId }, query: { limit: MOST } },
          }),
        )
      ).data,
    refetchInterval: REFRESH_MS,
  });
