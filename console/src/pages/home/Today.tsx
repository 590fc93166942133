import { Group, Paper, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { Section } from '../../components/Section.tsx';
import { formatNumber, formatPercent } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { COLON, textsIn } from '../../texts.ts';
import {
  formatMetric,
  type Insights,
  insightsQuery,
  isCount,
  metricTexts,
  totalText,
  valueIn,
} from '../insights/insightData.ts';
import { INTERVAL_MS, type Metric } from '../insights/insightSearch.ts';

const HourPlot = lazyRouteComponent(() => import('./HourPlot.tsx'), 'HourPlot');

/** What the agent did is one glance of these. */
const METRICS = [
  'sessions',
  'calls',
  'answered',
  'success',
  'latencyP95',
  'cost',
  'error',
] as const satisfies Metric[];
const DAYS_BEFORE = 7;
/** Of the most frequent outcomes. */
const OUTCOMES = 6;

const texts = textsIn({
  en: {
    today: 'Today',
    since: 'Ended conversations since midnight, at most a minute late.',
    none: 'No conversation has ended today yet.',
    noneHelp: 'What the agent does is told here a minute after each conversation’s end.',
    talk: 'Talk to the agent',
    before: (value: string) => `last ${DAYS_BEFORE} days: ${value}`,
    perDay: (value: string) => `last ${DAYS_BEFORE} days: ${value} a day`,
    nothing: 'not measured',
    outcomes: 'Outcomes',
    noOutcome: 'no disposition',
    noOutcomes: 'The agent names no outcomes yet. Give it dispositions under',
    settings: 'Agent › Settings › Analysis',
    others: 'others',
    hours: 'Conversations by the hour',
  },
  'zh-TW': {
    today: '今天',
    since: '午夜至今已結束的對話，最多延遲一分鐘。',
    none: '今天還沒有對話結束。',
    noneHelp: '每段對話結束一分鐘後，這裡會顯示代理的表現。',
    talk: '與代理對話',
    before: (value: string) => `最近 ${DAYS_BEFORE} 天：${value}`,
    perDay: (value: string) => `最近 ${DAYS_BEFORE} 天：每日 ${value}`,
    nothing: '未測量',
    outcomes: '結果',
    noOutcome: '無結果分類',
    noOutcomes: '代理尚未區分結果。請設定結果分類：',
    settings: '代理 › 設定 › 分析',
    others: '其他',
    hours: '每小時的對話數',
  },
});

/** How the agent did today, beside the days before. */
export function Today({ projectId }: { projectId: string }) {
  const api = useApi();
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const from = midnight.toISOString();
  const before = {
    from: new Date(midnight.getTime() - DAYS_BEFORE * INTERVAL_MS.day).toISOString(),
    to: from,
  };
  const today = useQueries({
    queries: METRICS.map((metric) => insightsQuery(api, projectId, { metric, interval: 'hour', from })),
  });
  const earlier = useQueries({
    queries: METRICS.map((metric) => insightsQuery(api, projectId, { metric, interval: 'day', ...before })),
  });
  const outcomes = useQuery(
    insightsQuery(api, projectId, { metric: 'dispositions', interval: 'hour', from }),
  );
  const [sessions] = today;
  if (sessions?.error && !sessions.data) return <ErrorPage error={sessions.error} />;
  if (!sessions?.data) return null;
  const hasSome = sessions.data.total.n > 0;
  return (
    <Section title={texts.today} description={texts.since}>
      {!hasSome && (
        <Text>
          {texts.none} {texts.noneHelp}{' '}
          <PageLink to="/projects/$projectId/talk" params={{ projectId }} underline="always">
            {texts.talk}
          </PageLink>
        </Text>
      )}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} spacing="sm">
        {METRICS.map((metric, index) => (
          <Figure
            key={metric}
            projectId={projectId}
            metric={metric}
            today={today[index]?.data}
            earlier={earlier[index]?.data}
          />
        ))}
      </SimpleGrid>
      {hasSome && (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Stack gap={4}>
            <Title order={3} size="h5">
              {texts.hours}
            </Title>
            <Suspense>
              <HourPlot label={texts.hours} series={sessions.data.series[0]} />
            </Suspense>
          </Stack>
          {outcomes.data && <Outcomes projectId={projectId} from={from} data={outcomes.data} />}
        </SimpleGrid>
      )}
    </Section>
  );
}

interface FigureProps {
  readonly projectId: string;
  readonly metric: Metric;
  readonly today: Insights | undefined;
  readonly earlier: Insights | undefined;
}

function Figure({ projectId, metric, today, earlier }: FigureProps) {
  const isSum = isCount(metric);
  const text = today && figureOf(metric, today) !== null ? totalText(metric, today.total) : null;
  const past = figureOf(metric, earlier);
  const compared = past === null ? null : isSum ? past / DAYS_BEFORE : past;
  return (
    <Paper withBorder p="sm">
      <Text size="sm" c="dimmed">
        {metricTexts[metric]}
      </Text>
      <PageLink
        to="/projects/$projectId/insights"
        params={{ projectId }}
        search={{ metric, days: 1 }}
        fw={700}
        size="xl"
        aria-label={`${metricTexts[metric]}${COLON}${text ?? texts.nothing}`}
      >
        {text ?? '–'}
      </PageLink>
      <Text size="xs" c="dimmed">
        {compared === null
          ? text === null && texts.nothing
          : (isSum ? texts.perDay : texts.before)(formatMetric(metric, compared, earlier?.total.currency))}
      </Text>
    </Paper>
  );
}

/** Null where nothing was measured, such as the cost without rates, which the API adds up to 0. */
function figureOf(metric: Metric, data: Insights | undefined): number | null {
  return data && (data.total.n > 0 || metric !== 'cost') ? valueIn(data.total) : null;
}

/** What conversations came to, the most frequent first. */
function Outcomes({ projectId, from, data }: { projectId: string; from: string; data: Insights }) {
  const total = data.total.n;
  const counted = data.series
    .map(({ key, isOther, points }) => ({
      name: isOther ? texts.others : (key ?? texts.noOutcome),
      /** Empty for conversations without one. */
      disposition: isOther ? undefined : (key ?? ''),
      count: points.reduce((sum, { n }) => sum + n, 0),
    }))
    .slice(0, OUTCOMES);
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {texts.outcomes}
      </Title>
      {counted.every(({ disposition }) => !disposition) ? (
        <Text size="sm">
          {texts.noOutcomes}{' '}
          <PageLink to="/projects/$projectId/agent" params={{ projectId }} underline="always">
            {texts.settings}
          </PageLink>
        </Text>
      ) : (
        counted.map(({ name, disposition, count }) => (
          <div key={name}>
            <Group justify="space-between" gap="xs" wrap="nowrap">
              {disposition === undefined ? (
                <Text size="sm">{name}</Text>
              ) : (
                <PageLink
                  to="/projects/$projectId/sessions"
                  params={{ projectId }}
                  search={{ disposition, status: 'ended', from }}
                  size="sm"
                  style={{ overflowWrap: 'anywhere' }}
                >
                  {name}
                </PageLink>
              )}
              <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                {formatNumber(count)} · {formatPercent(count / total)}
              </Text>
            </Group>
            <Progress value={(100 * count) / total} aria-label={name} />
          </div>
        ))
      )}
    </Stack>
  );
}
