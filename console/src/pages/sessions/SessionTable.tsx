import { Button, Loader, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { codeText } from '../../codes/codeText.ts';
import { formatCost, formatDateTime, formatDuration, formatNumber } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { releaseText } from '../releases/releaseData.ts';
import { Outcome } from './Outcome.tsx';
import { type SessionSearch, sessionQueryOf } from './sessionSearch.ts';

type List =
  paths['/v1/projects/{projectId}/session-history']['get']['responses'][200]['content']['application/json'];
type Session = List['results'][number];

const PAGE_SIZE = '50';

const texts = textsIn({
  en: {
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
    more: 'Load more',
    count: (shown: string, total: string) => `${shown} of ${total}`,
  },
  'zh-TW': {
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
    more: '載入更多',
    count: (shown: string, total: string) => `${shown} / ${total}`,
  },
});

/** Newest first, page by page. */
export function SessionTable({ projectId, search }: { projectId: string; search: SessionSearch }) {
  const api = useApi();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['sessions', projectId, search],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/session-history', {
          params: {
            path: { projectId },
            query: { ...sessionQueryOf(search), limit: PAGE_SIZE, cursor: pageParam || undefined },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
  });
  if (!data) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.started} />;
  const sessions = data.pages.flatMap(({ results }) => results);
  if (sessions.length === 0) {
    if (Object.values(search).some((value) => value !== undefined)) return <Text>{texts.none}</Text>;
    return (
      <Text>
        {texts.noneYet}
        <PageLink to="/projects/$projectId/talk" params={{ projectId }} underline="always">
          {texts.talk}
        </PageLink>
      </Text>
    );
  }
  const total = data.pages[0]?.pagination.total ?? sessions.length;
  return (
    <Stack gap="sm" align="flex-start">
      <Table.ScrollContainer minWidth={340} w="100%">
        <Table highlightOnHover style={{ whiteSpace: 'nowrap' }}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.started}</Table.Th>
              <Table.Th>{texts.channel}</Table.Th>
              <Table.Th>{texts.disposition}</Table.Th>
              <Table.Th visibleFrom="sm">{texts.release}</Table.Th>
              <Table.Th ta="end">{texts.length}</Table.Th>
              <Table.Th ta="end" visibleFrom="sm">
                {texts.messages}
              </Table.Th>
              <Table.Th ta="end">{texts.cost}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sessions.map((session) => (
              <Row key={`${session.sessionId} ${session.startedAt}`} {...{ projectId, session }} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm" c="dimmed">
        {texts.count(formatNumber(sessions.length), formatNumber(total))}
      </Text>
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </Stack>
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
