import { Group, Loader, NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { MAX_LINES, Plot } from '../../components/Plot.tsx';
import { Section } from '../../components/Section.tsx';
import { formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import {
  countOf,
  formatMetric,
  type Insights,
  insightsQuery,
  isCount,
  kappaText,
  metricHelp,
  metricTexts,
  type Series,
  totalText,
  valueIn,
} from './insightData.ts';
import {
  filtersOf,
  GROUPS,
  INTERVALS,
  type InsightSearch,
  intervalOf,
  METRICS,
  type Metric,
  type SeriesOf,
  spanOf,
  timesOf,
} from './insightSearch.ts';
import { useKeyText } from './keyTexts.ts';
import { PointTable } from './PointTable.tsx';
import { sessionsOf } from './sessionsOf.ts';

const texts = textsIn({
  en: {
    metric: 'Metric',
    groupBy: 'By',
    interval: 'Interval',
    together: 'All together',
    groups: {
      release: 'Release',
      disposition: 'Disposition',
      endReason: 'How it ended',
      direction: 'Direction',
      trunk: 'Trunk',
      campaign: 'Campaign',
      language: 'Language',
      node: 'Node of the end',
      provider: 'Label',
    },
    intervals: { hour: 'Hour', day: 'Day', week: 'Week' },
    total: 'In the whole time',
    from: (n: string) => `from ${n}`,
    few: (shown: number) => `The plot shows the ${shown} largest; the table has all.`,
    currency: (currency: string) => `The plot shows ${currency} alone; the table has all currencies.`,
    others: '“All others” is a sum without a list of its own.',
    click: 'A click on a point shows its conversations. Days and weeks are in UTC.',
    none: 'No ended conversation in this time.',
    noneHelp: 'Conversations count a minute after their end. Choose a longer time, or ',
    talk: 'talk to the agent',
    filtered: 'No conversation matches the filters in this time.',
    nothing: {
      success: 'No conversation was analyzed with dispositions that say whether they are a success. ',
      dispositions: 'No conversation was analyzed. ',
      evaluation: 'No conversation was evaluated. ',
      judgeAgreement: 'No criterion was reviewed by a person. ',
      cost: 'No conversation has a cost: those that end after you set your vendors’ rates have one. ',
    },
    setUp: 'Set it up in the agent’s settings.',
    rates: 'Set the rates',
  },
  'zh-TW': {
    metric: '指標',
    groupBy: '分組',
    interval: '間隔',
    together: '全部合計',
    groups: {
      release: '版本',
      disposition: '結果分類',
      endReason: '結束原因',
      direction: '方向',
      trunk: '中繼線',
      campaign: '外撥活動',
      language: '語言',
      node: '結束的節點',
      provider: '標籤',
    },
    intervals: { hour: '小時', day: '日', week: '週' },
    total: '整段時間',
    from: (n: string) => `依據 ${n} 筆`,
    few: (shown: number) => `圖中顯示最大的 ${shown} 組；表格列出全部。`,
    currency: (currency: string) => `圖中只顯示 ${currency}；表格列出所有幣別。`,
    others: '「其他」是總和，沒有對應的對話清單。',
    click: '點選圖上的點可查看該處的對話。日與週以 UTC 計算。',
    none: '這段時間沒有已結束的對話。',
    noneHelp: '對話在結束一分鐘後計入。請選擇更長的時間，或',
    talk: '與代理對話',
    filtered: '這段時間沒有符合篩選的對話。',
    nothing: {
      success: '沒有分析過、且結果分類能判斷成敗的對話。',
      dispositions: '沒有分析過的對話。',
      evaluation: '沒有評估過的對話。',
      judgeAgreement: '尚無由人審查過的準則。',
      cost: '沒有對話有費用：設定供應商的費率之後結束的對話才有費用。',
    },
    setUp: '請在代理的設定中設定。',
    rates: '設定費率',
  },
});

/** More bars than these would be one area. */
const MAX_BARS = 120;
const SESSIONS = '/projects/$projectId/sessions';
/** Metrics that have a series for each value without a group. */
const GROUPED_BY: Readonly<Partial<Record<Metric, SeriesOf>>> = {
  dispositions: 'disposition',
  endReasons: 'endReason',
  latency: 'part',
  judgeAgreement: 'criterion',
};

interface FiguresProps {
  readonly projectId: string;
  readonly search: InsightSearch;
  onChange(change: InsightSearch): void;
}

/** One metric over time, as a plot and as a table. */
export function Figures({ projectId, search, onChange }: FiguresProps) {
  const api = useApi();
  const { metric = 'sessions' } = search;
  const isGrouped = metric in GROUPED_BY;
  const groupBy = isGrouped ? undefined : search.groupBy;
  const interval = intervalOf(search);
  const span = spanOf(search, Date.now());
  const query = { metric, groupBy, interval, ...span, ...filtersOf(search) };
  const { data, error } = useQuery(insightsQuery(api, projectId, query));
  return (
    <Stack>
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label={texts.metric}
          data={METRICS.map((value) => ({ value, label: metricTexts[value] }))}
          value={metric}
          onChange={({ currentTarget: { value } }) =>
            onChange({ metric: METRICS.find((one) => one === value) })
          }
        />
        <NativeSelect
          label={texts.groupBy}
          data={[
            { value: '', label: texts.together },
            ...GROUPS.map((value) => ({ value, label: texts.groups[value] })),
          ]}
          value={groupBy ?? ''}
          disabled={isGrouped}
          onChange={({ currentTarget: { value } }) =>
            onChange({ groupBy: GROUPS.find((one) => one === value) })
          }
        />
        <NativeSelect
          label={texts.interval}
          data={INTERVALS.map((value) => ({ value, label: texts.intervals[value] }))}
          value={interval}
          onChange={({ currentTarget: { value } }) =>
            onChange({ interval: INTERVALS.find((one) => one === value) })
          }
        />
      </Group>
      {!data && !error && <Loader aria-label={metricTexts[metric]} />}
      {!data && error && <ErrorPage error={error} />}
      {data && <Result {...{ projectId, search, metric, data }} />}
    </Stack>
  );
}

interface ResultProps {
  readonly projectId: string;
  readonly search: InsightSearch;
  readonly metric: Metric;
  readonly data: Insights;
}

function Result({ projectId, search, metric, data }: ResultProps) {
  const navigate = useNavigate();
  const interval = intervalOf(search);
  const { currency } = data.total;
  const groupBy = GROUPED_BY[metric] ?? search.groupBy;
  const keyText = useKeyText(projectId, groupBy);
  const nameOf = (one: Series) => {
    const name = groupBy === undefined ? metricTexts[metric] : keyText(one);
    return data.total.others && one.currency ? `${name} (${one.currency})` : name;
  };
  const ofCurrency = data.series.filter((one) => one.currency === currency);
  const plotted = ofCurrency.filter(({ isOther }) => !isOther).slice(0, MAX_LINES);
  const labels = plotted.map(nameOf).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is plotted follows from the data.
  const { times, lines } = useMemo(() => {
    const starts = plotted.flatMap(({ points }) => points.map(({ at }) => Date.parse(at)));
    const times = timesOf(search, Math.min(Date.now(), ...starts), Date.now());
    const empty = isCount(metric) ? 0 : null;
    return { times: times.map((ms) => ms / 1000), lines: linesOf(plotted, labels.split('\n'), times, empty) };
  }, [data, labels]);
  const format = useCallback((value: number) => formatMetric(metric, value, currency), [metric, currency]);
  const linkOf = (at: string, { key, isOther }: Series) =>
    isOther ? undefined : sessionsOf({ search, groupBy, at, interval, key });
  if (data.total.n === 0) return <Nothing projectId={projectId} search={search} metric={metric} />;
  return (
    <Section
      title={metricTexts[metric]}
      description={metricHelp[metric]}
      actions={
        <Stack gap={0} ta={{ base: 'start', sm: 'end' }}>
          <Text size="xs" c="dimmed">
            {texts.total}
          </Text>
          <Text fw={700} size="lg">
            {totalText(metric, data.total) ?? '–'}
          </Text>
          <Text size="xs" c="dimmed">
            {[texts.from(formatNumber(countOf(data.total))), kappaText(data.total)]
              .filter(Boolean)
              .join(' · ')}
          </Text>
        </Stack>
      }
    >
      <Plot
        label={metricTexts[metric]}
        times={times}
        lines={lines}
        format={format}
        daily={interval !== 'hour'}
        kind={lines.length === 1 && isCount(metric) && times.length <= MAX_BARS ? 'bars' : 'lines'}
        onPick={(time, line) => {
          const one = plotted[line];
          const at = new Date((times[time] ?? 0) * 1000).toISOString();
          const found = one && linkOf(at, one);
          if (found) void navigate({ to: SESSIONS, params: { projectId }, search: found });
        }}
      />
      <Text size="xs" c="dimmed">
        {[
          texts.click,
          plotted.length < ofCurrency.length && texts.few(plotted.length),
          data.total.others && currency && texts.currency(currency),
          data.series.some(({ isOther }) => isOther) && texts.others,
        ]
          .filter(Boolean)
          .join(' ')}
      </Text>
      <PointTable
        {...{ projectId, interval, nameOf, linkOf }}
        format={(value, one) => formatMetric(metric, value, one.currency)}
        label={metricTexts[metric]}
        series={data.series}
      />
    </Section>
  );
}

/** Why there is nothing to see, and what to do about it. */
function Nothing({
  projectId,
  search,
  metric,
}: {
  projectId: string;
  search: InsightSearch;
  metric: Metric;
}) {
  const isFiltered = Object.keys(filtersOf(search)).length > 0;
  const ofMetric = texts.nothing[metric as keyof typeof texts.nothing];
  return (
    <Section title={metricTexts[metric]} description={metricHelp[metric]}>
      {isFiltered ? (
        <Text>{texts.filtered}</Text>
      ) : ofMetric !== undefined ? (
        <Text>
          {ofMetric}
          {metric === 'cost' ? (
            <PageLink to="/projects/$projectId/settings" params={{ projectId }} underline="always">
              {texts.rates}
            </PageLink>
          ) : (
            <PageLink to="/projects/$projectId/agent" params={{ projectId }} underline="always">
              {texts.setUp}
            </PageLink>
          )}
        </Text>
      ) : (
        <Text>
          {texts.none} {texts.noneHelp}
          <PageLink to="/projects/$projectId/talk" params={{ projectId }} underline="always">
            {texts.talk}
          </PageLink>
        </Text>
      )}
    </Section>
  );
}

/** The series over the whole time: where there is nothing to count, a count is 0 and another metric has a gap. */
function linesOf(
  series: readonly Series[],
  labels: readonly string[],
  times: readonly number[],
  empty: 0 | null,
) {
  return series.map(({ points }, index) => {
    const values = new Map(points.map((point) => [Date.parse(point.at), valueIn(point)]));
    return { label: labels[index] ?? '', values: times.map((ms) => values.get(ms) ?? empty) };
  });
}
