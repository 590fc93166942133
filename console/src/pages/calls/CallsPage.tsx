import { Button, Checkbox, Group, Stack, TextInput, Title } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { DownloadIcon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { createQuerySerializer } from 'openapi-fetch';

import { useApi } from '../../api/apiContext.tsx';
import { campaignNamesQuery } from '../../api/nameQueries.ts';
import { codeText } from '../../codes/codeText.ts';
import { FilterSelect } from '../../components/FilterSelect.tsx';
import { PageTitle } from '../../layout/PageTitle.tsx';
import { textsIn } from '../../texts.ts';
import { CallTable } from './CallTable.tsx';
import { type CallFilters, DIRECTIONS, queryOf, readFilters, STATUSES } from './filters.ts';
import { LiveCalls } from './live/LiveCalls.tsx';
import { ScheduledCalls } from './ScheduledCalls.tsx';

const route = getRouteApi('/projects/$projectId/calls');
/** After the last key. */
const SEARCH_AFTER_MS = 300;

const texts = textsIn({
  en: {
    title: 'Calls',
    past: 'All calls',
    said: 'Words that were said',
    number: 'Number',
    status: 'Status',
    direction: 'Direction',
    from: 'From',
    to: 'To',
    violations: 'With violations only',
    tests: 'With test calls',
    export: 'Export CSV',
    filters: 'Filters',
    campaign: 'Campaign',
  },
  'zh-TW': {
    title: '通話',
    past: '所有通話',
    said: '說過的話',
    number: '號碼',
    status: '狀態',
    direction: '方向',
    from: '從',
    to: '到',
    violations: '僅顯示有違規的通話',
    tests: '包含測試通話',
    export: '匯出 CSV',
    filters: '篩選',
    campaign: '外撥活動',
  },
});

/** Live calls and all others, found by what they were and what was said. */
export function CallsPage() {
  const { projectId } = route.useParams();
  const filters = route.useSearch();
  const query = createQuerySerializer()(queryOf(filters));
  return (
    <Stack gap="lg">
      <PageTitle>{texts.title}</PageTitle>
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
  const { data: campaigns = [] } = useQuery(campaignNamesQuery(useApi(), projectId));
  const setLater = useDebouncedCallback(set, SEARCH_AFTER_MS);
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
      <FilterSelect
        label={texts.status}
        options={STATUSES.map((status) => [status, codeText('callStatus', status)] as const)}
        value={filters.status}
        onChange={(status) => set({ status })}
      />
      <FilterSelect
        label={texts.direction}
        options={DIRECTIONS.map((direction) => [direction, codeText('direction', direction)] as const)}
        value={filters.direction}
        onChange={(direction) => set({ direction })}
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
      <FilterSelect
        label={texts.campaign}
        options={campaigns}
        value={filters.campaignId}
        hasIds
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
