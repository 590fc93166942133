import { Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { codeText } from '../../codes/codeText.ts';
import { listQuery, PagedTable } from '../../components/PagedTable.tsx';
import { formatCost, formatDateTime, formatDuration, formatNumber } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { releaseText } from '../releases/releaseData.ts';
import { Outcome } from './Outcome.tsx';
import { type SessionSearch, sessionQueryOf } from './sessionSearch.ts';

type List =
  paths['/v1/projects/{projectId}/session-history']['get']['responses'][200]['content']['application/json'];
type Session = List['results'][number];

const texts = textsIn({
  en: {
    sessions: 'Conversations',
    started: 'Started',
    channel: 'Channel',
    disposition: 'Disposition',
    release: 'Release',
    length: 'Length',
    messages: 'Messages',
    cost: 'Cost',
    active: 'active',
    none: 'No conversation matches.',
    noneYet: 'No conversation yet. ',
    talk: 'Talk to the agent',
  },
  'zh-TW': {
    sessions: '對話紀錄',
    started: '開始時間',
    channel: '管道',
    disposition: '結果分類',
    release: '版本',
    length: '長度',
    messages: '訊息數',
    cost: '費用',
    active: '進行中',
    none: '沒有符合的對話。',
    noneYet: '尚無對話。',
    talk: '與代理對話',
  },
});

/** Newest first, page by page. */
export function SessionTable({ projectId, search }: { projectId: string; search: SessionSearch }) {
  const api = useApi();
  const pages = useInfiniteQuery(
    listQuery(['sessions', projectId, search], async (page) => {
      const { results, pagination } = await bodyOf(
        api.GET('/v1/projects/{projectId}/session-history', {
          params: { path: { projectId }, query: { ...sessionQueryOf(search), ...page } },
        }),
      );
      return { data: results, pagination };
    }),
  );
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <PagedTable
      label={texts.sessions}
      pages={pages}
      none={isFiltered ? texts.none : <NoneYet projectId={projectId} />}
      highlightOnHover
      style={{ whiteSpace: 'nowrap' }}
      headings={[
        texts.started,
        texts.channel,
        texts.disposition,
        { text: texts.release, isWide: true },
        { text: texts.length, isEnd: true },
        { text: texts.messages, isEnd: true, isWide: true },
        { text: texts.cost, isEnd: true },
      ]}
    >
      {(session) => <Row key={`${session.sessionId} ${session.startedAt}`} {...{ projectId, session }} />}
    </PagedTable>
  );
}

function NoneYet({ projectId }: { projectId: string }) {
  return (
    <>
      {texts.noneYet}
      <PageLink to="/projects/$projectId/talk" params={{ projectId }} underline="always">
        {texts.talk}
      </PageLink>
    </>
  );
}

function Row({ projectId, session }: { projectId: string; session: Session }) {
  const { sessionId, callId, channel, release, startedAt, durationMs, messageCount, cost } = session;
  const { disposition, success } = session;
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to="/projects/$projectId/calls/$callId" params={{ projectId, callId: callId ?? sessionId }}>
          {formatDateTime(startedAt)}
        </PageLink>
      </Table.Td>
      <Table.Td>{codeText('channel', channel)}</Table.Td>
      <Table.Td>
        <Outcome disposition={disposition} success={success} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{releaseText(release)}</Table.Td>
      <Table.Td ta="end">{durationMs === null ? texts.active : formatDuration(durationMs)}</Table.Td>
      <Table.Td ta="end" visibleFrom="sm">
        {formatNumber(messageCount)}
      </Table.Td>
      <Table.Td ta="end">{cost && formatCost(cost)}</Table.Td>
    </Table.Tr>
  );
}
