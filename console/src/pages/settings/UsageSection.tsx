import { Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import { Plot } from '../../components/Plot.tsx';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    perDay: 'Usage per day',
    days: 'The last 30 days, by UTC.',
    none: 'Nothing was used in the last 30 days.',
    quotas: 'Quotas',
    limits: 'Limits of calls',
    none_limits: 'No limit is set.',
    calls: 'Calls',
    minutes: 'Minutes',
    chats: 'Chats',
    tokens: 'Tokens',
    characters: 'Spoken characters',
    cost: 'Cost of outbound calls',
  },
  'zh-TW': {
    perDay: '每日用量',
    days: '最近 30 天（UTC）。',
    none: '最近 30 天沒有用量。',
    quotas: '配額',
    limits: '通話限制',
    none_limits: '未設定限制。',
    calls: '通話',
    minutes: '分鐘',
    chats: '聊天',
    tokens: 'Token',
    characters: '說出的字元',
    cost: '撥出電話費用',
  },
});

const fetchUsage = (api: Api, projectId: string) =>
  bodyOf(api.GET('/v1/projects/{projectId}/usage', { params: { path: { projectId } } }));
type Day = Awaited<ReturnType<typeof fetchUsage>>['days'][number];

export function UsageSection() {
  const api = useApi();
  const projectId = useProjectId();
  const { data, error } = useQuery({
    queryKey: ['usage', projectId],
    queryFn: () => fetchUsage(api, projectId),
  });
  if (error) return <ErrorPage error={error} />;
  if (!data) return null;
  return (
    <Stack>
      <Section title={texts.perDay} description={texts.days}>
        {data.days.length === 0 ? <Text>{texts.none}</Text> : <DayPlots days={data.days} />}
      </Section>
      <Section title={texts.quotas}>
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
          {Object.entries(data.quotas).map(([name, { used, limit }]) => (
            <div key={name}>
              <Text size="sm">
                {name}: {formatNumber(used)} / {formatNumber(limit)}
              </Text>
              <Progress value={limit > 0 ? (100 * used) / limit : 0} aria-label={name} />
            </div>
          ))}
        </SimpleGrid>
      </Section>
      <LimitSection />
    </Stack>
  );
}

function DayPlots({ days }: { days: readonly Day[] }) {
  const plots = useMemo(() => {
    const inOrder = days.toReversed();
    const values = (read: (day: Day) => number | undefined) => inOrder.map((day) => read(day) ?? null);
    const times = inOrder.map(({ date }) => Date.parse(date) / 1000);
    const all = [
      { label: texts.calls, values: values(({ calls }) => calls) },
      { label: texts.minutes, values: values(({ minutes }) => minutes) },
      { label: texts.chats, values: values(({ chats }) => chats) },
      { label: texts.tokens, values: values(({ tokens }) => tokens) },
      { label: texts.characters, values: values(({ characters }) => characters) },
      { label: texts.cost, values: values(({ cost }) => cost) },
    ];
    const shown = all.filter((line) => line.values.some((value) => value !== null));
    return shown.map((line) => ({ times, lines: [line] }));
  }, [days]);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {plots.map(({ times, lines }) => (
        <Plot
          key={lines[0]?.label}
          label={lines[0]?.label ?? ''}
          times={times}
          lines={lines}
          kind="bars"
          daily
        />
      ))}
    </SimpleGrid>
  );
}

/** What the operator has set; keys read it. */
function LimitSection() {
  const api = useApi();
  const projectId = useProjectId();
  const { data: project } = useQuery({
    queryKey: ['project', projectId],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}', { params: { path: { projectId } } })),
  });
  if (!project) return null;
  const limits = Object.entries(project.callLimits).filter(([, value]) => value !== null);
  return (
    <Section title={texts.limits}>
      {limits.length === 0 && <Text>{texts.none_limits}</Text>}
      {limits.map(([name, value]) => (
        <Text key={name} size="sm">
          {name}: {typeof value === 'object' ? JSON.stringify(value) : String(value)}
        </Text>
      ))}
    </Section>
  );
}
