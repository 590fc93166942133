import { Table, Text } from '@mantine/core';
import { ArrowDownIcon, ArrowUpIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { codeText } from '../../codes/codeText.ts';
import { listQuery, PagedTable } from '../../components/PagedTable.tsx';
import { formatCost, formatDateTime, formatDuration, formatLatency, formatNumber } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { Outcome } from '../sessions/Outcome.tsx';
import { type CallFilters, queryOf } from './filters.ts';
import { StatusBadge } from './StatusBadge.tsx';

type Call = components['schemas']['Call'];

const texts = textsIn({
  en: {
    calls: 'Calls',
    call: 'Call',
    time: 'Time',
    status: 'Status',
    length: 'Length',
    latency: 'Latency p95',
    audio: 'MOS',
    outcome: 'Disposition',
    cost: 'Cost',
    none: 'No call matches.',
    noneYet: 'No call yet.',
  },
  'zh-TW': {
    calls: '通話',
    call: '通話',
    time: '時間',
    status: '狀態',
    length: '長度',
    latency: '延遲 p95',
    audio: 'MOS',
    outcome: '結果分類',
    cost: '費用',
    none: '沒有符合的通話。',
    noneYet: '尚無通話。',
  },
});

/** Newest first, page by page. */
export function CallTable({ projectId, filters }: { projectId: string; filters: CallFilters }) {
  const api = useApi();
  const pages = useInfiniteQuery(
    listQuery(['calls', projectId, 'list', filters], (page) =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/calls', {
          params: { path: { projectId }, query: { ...queryOf(filters), ...page } },
        }),
      ),
    ),
  );
  return (
    <PagedTable
      label={texts.calls}
      pages={pages}
      none={Object.keys(filters).length > 0 ? texts.none : texts.noneYet}
      highlightOnHover
      headings={[
        texts.call,
        texts.status,
        { text: texts.outcome, isWide: true },
        { text: texts.time, isWide: true },
        { text: texts.length, isEnd: true },
        { text: texts.latency, isEnd: true, isWide: true },
        { text: texts.audio, isEnd: true, isWide: true },
        { text: texts.cost, isEnd: true, isWide: true },
      ]}
    >
      {(call) => <Row key={call.id} projectId={projectId} call={call} />}
    </PagedTable>
  );
}

function Row({ projectId, call }: { projectId: string; call: Call }) {
  const { id, direction, fromNumber, toNumber, createdAt, startedAt, durationMs, status, endReason } = call;
  const { p95 } = call.turnLatencyMs;
  const mos = call.mediaFigures?.mos ?? null;
  const Arrow = direction === 'inbound' ? ArrowDownIcon : ArrowUpIcon;
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to="/projects/$projectId/calls/$callId" params={{ projectId, callId: id }}>
          <Arrow aria-label={codeText('direction', direction)} /> {fromNumber} → {toNumber}
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
