import { Button, Loader, Stack, Table, Text } from '@mantine/core';
import { ArrowDownIcon, ArrowUpIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { codeText } from '../../codes/codeText.ts';
import { formatCost, formatDateTime, formatDuration, formatLatency, formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { Outcome } from '../sessions/Outcome.tsx';
import { type CallFilters, queryOf } from './filters.ts';
import { StatusBadge } from './StatusBadge.tsx';

type Call = components['schemas']['Call'];

const PAGE_SIZE = 50;

const texts = textsIn({
  en: {
    call: 'Call',
    time: 'Time',
    status: 'Status',
    length: 'Length',
    latency: 'Latency p95',
    audio: 'MOS',
    outcome: 'Disposition',
    cost: 'Cost',
    inbound: 'Inbound',
    outbound: 'Outbound',
    none: 'No call matches.',
    noneYet: 'No call yet.',
    more: 'Load more',
    count: (shown: string, total: string) => `${shown} of ${total}`,
  },
  'zh-TW': {
    call: '通話',
    time: '時間',
    status: '狀態',
    length: '長度',
    latency: '延遲 p95',
    audio: 'MOS',
    outcome: '結果分類',
    cost: '費用',
    inbound: '來電',
    outbound: '撥出',
    none: '沒有符合的通話。',
    noneYet: '尚無通話。',
    more: '載入更多',
    count: (shown: string, total: string) => `${shown} / ${total}`,
  },
});

/** Newest first, page by page. */
export function CallTable({ projectId, filters }: { projectId: string; filters: CallFilters }) {
  const api = useApi();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['calls', projectId, 'list', filters],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/calls', {
          params: {
            path: { projectId },
            query: {
              ...queryOf(filters),
              limit: `${PAGE_SIZE}`,
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
  });
  if (!data) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.call} />;
  const calls = data.pages.flatMap((page) => page.data);
  if (calls.length === 0) {
    return <Text>{Object.keys(filters).length > 0 ? texts.none : texts.noneYet}</Text>;
  }
  const total = data.pages[0]?.pagination.total ?? calls.length;
  return (
    <Stack gap="sm" align="flex-start">
      <Table.ScrollContainer minWidth={340} w="100%">
        <Table highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.call}</Table.Th>
              <Table.Th>{texts.status}</Table.Th>
              <Table.Th visibleFrom="sm">{texts.outcome}</Table.Th>
              <Table.Th visibleFrom="sm">{texts.time}</Table.Th>
              <Table.Th ta="end">{texts.length}</Table.Th>
              <Table.Th ta="end" visibleFrom="sm">
                {texts.latency}
              </Table.Th>
              <Table.Th ta="end" visibleFrom="sm">
                {texts.audio}
              </Table.Th>
              <Table.Th ta="end" visibleFrom="sm">
                {texts.cost}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {calls.map((call) => (
              <Row key={call.id} projectId={projectId} call={call} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm" c="dimmed">
        {texts.count(formatNumber(calls.length), formatNumber(total))}
      </Text>
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </Stack>
  );
}

function Row({ projectId, call }: { projectId: string; call: Call }) {
  const { id, direction, fromNumber, toNumber, createdAt, startedAt, durationMs, status, endReason } = call;
  const { p95 } = call.turnLatencyMs;
  const mos = call.mediaFigures?.mos ?? null;
  const isInbound = direction === 'inbound';
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to="/projects/$projectId/calls/$callId" params={{ projectId, callId: id }}>
          {isInbound ? (
            <ArrowDownIcon aria-label={texts.inbound} />
          ) : (
            <ArrowUpIcon aria-label={texts.outbound} />
          )}{' '}
          {fromNumber} → {toNumber}
        </PageLink>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {formatDateTime(startedAt ?? createdAt)}
        </Text>
      </Table.Td>
      <Table.Td>
        <StatusBadge call={call} />
        {endReason !== null && status !== 'completed' && (
          <Text size="xs" c="dimmed" title={endReason}>
            {codeText('callEnd', endReason)}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Outcome disposition={call.disposition} success={call.success} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{formatDateTime(startedAt ?? createdAt)}</Table.Td>
      <Table.Td ta="end">{durationMs === null ? '' : formatDuration(durationMs)}</Table.Td>
      <Table.Td ta="end" visibleFrom="sm">
        {p95 === null ? '' : formatLatency(p95)}
      </Table.Td>
      <Table.Td ta="end" visibleFrom="sm">
        {mos === null ? '' : formatNumber(mos)}
      </Table.Td>
      <Table.Td ta="end" visibleFrom="sm">
        {call.cost && formatCost(call.cost)}
      </Table.Td>
    </Table.Tr>
  );
}
