import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { formatNumber } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { conditionText, useAlerts } from '../insights/alerts/alertData.ts';

const REFRESH_MS = 60_000;

const texts = textsIn({
  en: {
    firing: (name: string, condition: string) => `${name}: ${condition}`,
    reviews: (count: number) =>
      count === 1
        ? '1 conversation waits for review'
        : `${formatNumber(count)} conversations wait for review`,
  },
  'zh-TW': {
    firing: (name: string, condition: string) => `${name}：${condition}`,
    reviews: (count: number) => `${formatNumber(count)} 段對話等待審查`,
  },
});

/** What fires and what waits for a person; nothing where nothing does. */
export function Waiting({ projectId }: { projectId: string }) {
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['reviews', projectId, 'waiting'],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/reviews', {
          params: { path: { projectId }, query: { status: 'open', limit: '1' } },
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
  const { data: alerts = [] } = useAlerts(projectId);
  const firing = alerts.filter(({ state, enabled }) => enabled && state === 'firing');
  const total = data?.pagination.total ?? 0;
  return (
    <>
      {firing.map((alert) => (
        <Alert key={alert.id} color="red">
          <PageLink to="/projects/$projectId/insights" params={{ projectId }} search={{ tab: 'alerts' }}>
            {texts.firing(alert.name, conditionText(alert))}
          </PageLink>
        </Alert>
      ))}
      {total > 0 && (
        <Alert color="cyan">
          <PageLink to="/projects/$projectId/reviews" params={{ projectId }}>
            {texts.reviews(total)}
          </PageLink>
        </Alert>
      )}
    </>
  );
}
