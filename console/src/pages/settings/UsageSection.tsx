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
import { COLON, textsIn } from '../../texts.ts';

const BYTES_PER_GB = 1e9;
const DAY_MS = 86_400_000;
const DAYS = 30;

const texts = textsIn({
  en: {
    perDay: 'Usage per day',
    days: 'The last 30 days, by UTC.',
    none: 'Nothing was used in the last 30 days.',
    quotas: 'Quotas',
    noQuota: 'no limit',
    limits: 'Limits of calls',
    noLimits: 'No limit is set.',
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
    noQuota: '無上限',
    limits: '通話限制',
    noLimits: '未設定限制。',
    calls: '通話',
    minutes: '分鐘',
    chats: '聊天',
    tokens: 'Token',
    characters: '說出的字元',
    cost: '撥出電話費用',
  },
});

const quotaTexts = textsIn<Readonly<Record<keyof Usage['quotas'], string>>>({
  en: {
    apiKeys: 'Keys',
    widgetTokens: 'Widget tokens',
    tools: 'Tools',
    mcpServers: 'MCP servers',
    trunks: 'Trunks',
    numbers: 'Numbers',
    pathwayVersions: 'Versions of the pathway',
    documents: 'Documents',
    mediaFiles: 'Media files',
    testCases: 'Test cases',
    testSuites: 'Test suites',
    storedBytes: 'Storage',
    sessionsPerDay: 'Sessions today',
    tokensPerDay: 'Tokens today, on the installation’s keys',
    charactersPerDay: 'Spoken characters today, on the installation’s keys',
    recognitionMinutesPerDay: 'Recognized minutes today, on the installation’s keys',
    scheduledCalls: 'Scheduled calls',
    campaigns: 'Campaigns',
    alerts: 'Alerts',
    testRuns: 'Test runs',
  },
  'zh-TW': {
    apiKeys: '金鑰',
    widgetTokens: '小工具權杖',
    tools: '工具',
    mcpServers: 'MCP 伺服器',
    trunks: '中繼線',
    numbers: '號碼',
    pathwayVersions: '路徑版本',
    documents: '文件',
    mediaFiles: '媒體檔',
    testCases: '測試案例',
    testSuites: '測試套件',
    storedBytes: '儲存空間',
    sessionsPerDay: '今日工作階段',
    tokensPerDay: '今日 Token（使用系統的金鑰）',
    charactersPerDay: '今日說出的字元（使用系統的金鑰）',
    recognitionMinutesPerDay: '今日語音辨識分鐘數（使用系統的金鑰）',
    scheduledCalls: '排程通話',
    campaigns: '外撥活動',
    alerts: '警示',
    testRuns: '測試執行',
  },
});

const limitTexts = textsIn({
  en: {
    allowedPrefixes: 'Allowed prefixes',
    blockedPrefixes: 'Blocked prefixes',
    ownCountriesOnly: 'Only countries of the project’s numbers',
    blockSpecialRates: 'No premium-rate and satellite numbers',
    allowedSipDomains: 'Allowed SIP hosts',
    maxConcurrentCalls: 'Calls at once',
    maxCallsPerMinute: 'Outbound calls a minute',
    maxCallsPerHour: 'Outbound calls an hour',
    maxCallMinutesPerDay: 'Minutes of outbound calls a day',
    maxSpendingPerDay: 'Cost of outbound calls a day',
  },
  'zh-TW': {
    allowedPrefixes: '允許的號碼開頭',
    blockedPrefixes: '封鎖的號碼開頭',
    ownCountriesOnly: '只能撥往專案號碼所屬國家',
    blockSpecialRates: '不可撥打高費率與衛星號碼',
    allowedSipDomains: '允許的 SIP 主機',
    maxConcurrentCalls: '同時通話數',
    maxCallsPerMinute: '每分鐘撥出數',
    maxCallsPerHour: '每小時撥出數',
    maxCallMinutesPerDay: '每日撥出分鐘數',
    maxSpendingPerDay: '每日撥出費用',
  },
});

/** Empty where there is no limit. */
function limitText(limit: readonly string[] | boolean | number | null): string {
  if (Array.isArray(limit)) return limit.join(', ');
  if (typeof limit === 'number') return formatNumber(limit);
  return limit === true ? '✓' : '';
}

/** Storage in gigabytes, all else as a number. */
function quantity(name: string, value: number): string {
  return name === 'storedBytes' ? `${formatNumber(value / BYTES_PER_GB)} GB` : formatNumber(value);
}

const fetchUsage = (api: Api, projectId: string) =>
  bodyOf(api.GET('/v1/projects/{projectId}/usage', { params: { path: { projectId } } }));
type Usage = Awaited<ReturnType<typeof fetchUsage>>;
type Day = Usage['days'][number];

export function UsageSection() {
  const api = useApi();
  const projectId = useProjectId();
  const { data, error } = useQuery({
    queryKey: ['usage', projectId],
    queryFn: () => fetchUsage(api, projectId),
  });
  if (!data) return error ? <ErrorPage error={error} /> : null;
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
                {quotaTexts[name as keyof typeof quotaTexts] ?? name}
                {COLON}
                {quantity(name, used)} / {limit === null ? texts.noQuota : quantity(name, limit)}
              </Text>
              <Progress
                value={limit ? Math.round((1000 * used) / limit) / 10 : 0}
                aria-label={quotaTexts[name as keyof typeof quotaTexts] ?? name}
              />
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
    // Days without usage too, so that one day is not drawn as years.
    const today = Math.floor(Date.now() / DAY_MS);
    const times = Array.from({ length: DAYS }, (_, index) => ((today - DAYS + 1 + index) * DAY_MS) / 1000);
    const byTime = new Map(days.map((day) => [Date.parse(day.date) / 1000, day]));
    const values = (read: (day: Day) => number | undefined) =>
      times.map((time) => {
        const day = byTime.get(time);
        return day ? (read(day) ?? null) : null;
      });
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
  const { callLimits } = project;
  const limits = Object.entries(limitTexts).flatMap(([name, label]) => {
    const text = limitText(callLimits[name as keyof typeof limitTexts]);
    return text === '' ? [] : [{ name, label, text }];
  });
  return (
    <Section title={texts.limits}>
      {limits.length === 0 && <Text>{texts.noLimits}</Text>}
      {limits.map(({ name, label, text }) => (
        <Text key={name} size="sm">
          {label + COLON + text}
        </Text>
      ))}
    </Section>
  );
}
