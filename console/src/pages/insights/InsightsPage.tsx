import { Stack, Tabs } from '@mantine/core';
import { getRouteApi, lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';

import { PageTitle } from '../../layout/PageTitle.tsx';
import { textsIn } from '../../texts.ts';
import { InsightFilters } from './InsightFilters.tsx';
import { type InsightSearch, TABS } from './insightSearch.ts';

const Figures = lazyRouteComponent(() => import('./Figures.tsx'), 'Figures');
const AlertsTab = lazyRouteComponent(() => import('./alerts/AlertsTab.tsx'), 'AlertsTab');
const FunnelView = lazyRouteComponent(() => import('./FunnelView.tsx'), 'FunnelView');

const route = getRouteApi('/projects/$projectId/insights');

const texts = textsIn({
  en: { title: 'Insights', figures: 'Figures', funnel: 'Funnel', alerts: 'Alerts' },
  'zh-TW': { title: '洞察', figures: '數據', funnel: '漏斗', alerts: '警示' },
});

/** What all conversations come to: metrics over time, and the way through the pathway. */
export function InsightsPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { tab = 'figures' } = search;
  const change = (next: InsightSearch) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      {tab !== 'alerts' && <InsightFilters projectId={projectId} search={search} onChange={change} />}
      <Tabs
        value={tab}
        onChange={(value) => change({ tab: TABS.find((one) => one === value) })}
        keepMounted={false}
      >
        <Tabs.List mb="sm">
          {TABS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {texts[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Suspense>
          <Tabs.Panel value="figures">
            <Figures projectId={projectId} search={search} onChange={change} />
          </Tabs.Panel>
          <Tabs.Panel value="funnel">
            <FunnelView projectId={projectId} search={search} />
          </Tabs.Panel>
          <Tabs.Panel value="alerts">
            <AlertsTab projectId={projectId} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </Stack>
  );
}
