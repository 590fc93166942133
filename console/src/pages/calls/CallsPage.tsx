import { Button, Checkbox, Group, NativeSelect, Stack, TextInput, Title } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { DownloadIcon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { textsIn } from '../../texts.ts';
import { CallTable } from './CallTable.tsx';
import { type CallFilters, queryOf, readFilters, STATUSES } from './filters.ts';
import { LiveCalls } from './live/LiveCalls.tsx';
import { ScheduledCalls } from './ScheduledCalls.tsx';
import { statusText } from './StatusBadge.tsx';

const route = getRouteApi('/projects/$projectId/calls');
/** After the last key. */
const SEARCH_AFTER_MS = 300;
const MAX_CAMPAIGNS = 200;

const texts = textsIn({
  en: {
    title: 'Calls',
    past: 'All calls',
    said: 'Words that were said',
    number: 'Number',
    status: 'Status',
    direction: 'Direction',
    any: 'Any',
    inbound: 'Inbound',
    outbound: 'Outbound',
    from: 'From',
    to: 'To',
    violations: 'With violations only',
    tests: 'With test calls',
    export: 'Export CSV',
    filters: 'Filters',
    campaign: 'Campaign',
    otherCampaign: 'Another campaign',
  },
  'zh-TW': {
    title: '通話',
    past: '所有通話',
    said: '說過的話',
    number: '號碼',
    status: '狀態',
    direction: '方向',
    any: '全部',
    inbound: '來電',
    outbound: '撥出',
    from: '從',
    to: '到',
    violations: '僅顯示有違規的通話',
    tests: '包含測試通話',
    export: '匯出 CSV',
    filters: '篩選',
    campaign: '外撥活動',
    otherCampaign: '其他外撥活動',
  },
});

/** Live calls and all others, found by what they were and what was said. */
export function CallsPage() {
  const { projectId } = route.useParams();
  const filters = route.useSearch();
  const query = new URLSearchParams(queryOf(filters));
  return (
    <Stack gap="lg">
      <Title order={1} size="h2">
        {texts.title}
      </Title>
      <LiveCalls projectId={projectId} includeTests={filters.tests ?? false} />
      <ScheduledCalls projectId={projectId} />
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {texts.past}
          </Title>
          <Button
            component="a"
            href={`/v1/projects/${encodeURIComponent(projectId)}/calls/export?${query}`}
            download="calls.csv"
            variant="default"
            size="xs"
            leftSection={<DownloadIcon />}
          >
            {texts.export}
          </Button>
        </Group>
        <Filters projectId={projectId} filters={filters} />
        <CallTable projectId={projectId} filters={filters} />
      </Stack>
    </Stack>
  );
}

function Filters({ projectId, filters }: { projectId: string; filters: CallFilters }) {
  const navigate = route.useNavigate();
  const set = (change: CallFilters) =>
    void navigate({ search: (before) => readFilters({ ...before, ...change }), replace: true });
  const setLater = useDebouncedCallback(set, SEARCH_AFTER_MS);
  const options = (names: readonly (readonly [string, string])[]) => [
    { value: '', label: texts.any },
    ...names.map(([value, label]) => ({ value, label })),
  ];
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label={texts.filters}>
      <TextInput
        label={texts.said}
        leftSection={<MagnifyingGlassIcon />}
        defaultValue={filters.q ?? ''}
        maxLength={500}
        onChange={(event) => setLater({ q: event.currentTarget.value })}
        flex="1 1 220px"
      />
      <TextInput
        label={texts.number}
        inputMode="tel"
        defaultValue={filters.number ?? ''}
        maxLength={20}
        onChange={(event) => setLater({ number: event.currentTarget.value })}
        flex="1 1 140px"
      />
      <NativeSelect
        label={texts.status}
        data={options(STATUSES.map((status) => [status, statusText(status)]))}
        value={filters.status ?? ''}
        onChange={(event) => set({ status: STATUSES.find((one) => one === event.currentTarget.value) })}
      />
      <NativeSelect
        label={texts.direction}
        data={options([
          ['inbound', texts.inbound],
          ['outbound', texts.outbound],
        ])}
        value={filters.direction ?? ''}
        onChange={({ currentTarget: { value } }) =>
          set({ direction: value === 'inbound' || value === 'outbound' ? value : undefined })
        }
      />
      <TextInput
        type="date"
        label={texts.from}
        value={filters.from ?? ''}
        onChange={(event) => set({ from: event.currentTarget.value })}
      />
      <TextInput
        type="date"
        label={texts.to}
        value={filters.to ?? ''}
        onChange={(event) => set({ to: event.currentTarget.value })}
      />
      <CampaignFilter
        projectId={projectId}
        value={filters.campaignId}
        onChange={(campaignId) => set({ campaignId })}
      />
      <Checkbox
        label={texts.violations}
        checked={filters.violations ?? false}
        onChange={(event) => set({ violations: event.currentTarget.checked })}
        mb={8}
      />
      <Checkbox
        label={texts.tests}
        checked={filters.tests ?? false}
        onChange={(event) => set({ tests: event.currentTarget.checked })}
        mb={8}
      />
    </Group>
  );
}

interface CampaignFilterProps {
  readonly projectId: string;
  readonly value: string | undefined;
  readonly onChange: (campaignId: string | undefined) => void;
}

/** Nothing in a project without campaigns. */
function CampaignFilter({ projectId, value, onChange }: CampaignFilterProps) {
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['campaigns', projectId, 'names'],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/campaigns', {
          params: { path: { projectId }, query: { limit: `${MAX_CAMPAIGNS}` } },
        }),
      ),
  });
  const campaigns = (data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  if (campaigns.length === 0 && value === undefined) return null;
  const isOther = value !== undefined && !campaigns.some((one) => one.value === value);
  return (
    <NativeSelect
      label={texts.campaign}
      data={[
        { value: '', label: texts.any },
        ...campaigns,
        ...(isOther ? [{ value, label: texts.otherCampaign }] : []),
      ]}
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
      maw={240}
    />
  );
}
