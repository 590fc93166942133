import { Badge, Button, Loader, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { formatDateTime } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { reviewsQuery } from './reviewData.ts';

/** Of one request. */
const MOST_CASES = 100;

const texts = textsIn({
  en: {
    session: 'Conversation',
    verdict: 'Verdict',
    good: 'Good',
    bad: 'Bad',
    note: 'Note',
    labels: 'Labels',
    none: 'No conversation is reviewed yet.',
    more: 'Load more',
    cases: (count: number) =>
      count === 1 ? 'Make a test case of the bad one' : `Make test cases of the ${count} bad ones`,
    made: (count: number) => (count === 1 ? '1 test case is made: ' : `${count} test cases are made: `),
    tests: 'Tests',
  },
  'zh-TW': {
    session: '對話',
    verdict: '判斷',
    good: '好',
    bad: '不好',
    note: '備註',
    labels: '標籤',
    none: '尚無審查過的對話。',
    more: '載入更多',
    cases: (count: number) => `將 ${count} 段不好的對話轉為測試案例`,
    made: (count: number) => `已建立 ${count} 個測試案例：`,
    tests: '測試',
  },
});

/** What people said of conversations; the bad ones become test cases. */
export function DoneReviews({ projectId, mayWrite }: { projectId: string; mayWrite: boolean }) {
  const api = useApi();
  const queries = useQueryClient();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    reviewsQuery(api, projectId, 'done'),
  );
  const make = useMutation({
    mutationFn: (sessionIds: string[]) =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/test-cases/from-session', {
          params: { path: { projectId } },
          body: { sessionIds },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['test-cases', projectId] }),
  });
  if (!data) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.session} />;
  const sessions = data.pages.flatMap((page) => page.data);
  if (sessions.length === 0) return <Text>{texts.none}</Text>;
  const bad = [
    ...new Set(sessions.filter(({ review }) => review?.verdict === 'bad').map(({ sessionId }) => sessionId)),
  ].slice(0, MOST_CASES);
  return (
    <Stack gap="sm" align="flex-start">
      {mayWrite && bad.length > 0 && !make.isSuccess && (
        <Button variant="default" loading={make.isPending} onClick={() => make.mutate(bad)}>
          {texts.cases(bad.length)}
        </Button>
      )}
      {make.isSuccess && (
        <Text role="status">
          {texts.made(make.variables.length)}
          <PageLink to="/projects/$projectId/tests" params={{ projectId }} underline="always">
            {texts.tests}
          </PageLink>
        </Text>
      )}
      {make.error && (
        <Text c="var(--mantine-color-error)" role="alert">
          {make.error.message}
        </Text>
      )}
      <Table.ScrollContainer minWidth={420} w="100%">
        <Table>
          <Table.Thead>
            <Table.Tr>
              {[texts.session, texts.verdict, texts.note, texts.labels].map((heading) => (
                <Table.Th key={heading}>{heading}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sessions.map(({ sessionId, callId, startedAt, review }) => (
              <Table.Tr key={`${sessionId} ${startedAt}`}>
                <Table.Td>
                  <PageLink
                    to="/projects/$projectId/calls/$callId"
                    params={{ projectId, callId: callId ?? sessionId }}
                  >
                    {formatDateTime(startedAt)}
                  </PageLink>
                </Table.Td>
                <Table.Td>
                  {review && (
                    <Badge color={review.verdict === 'good' ? 'green' : 'red'}>{texts[review.verdict]}</Badge>
                  )}
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
                  {review?.note}
                </Table.Td>
                <Table.Td>{review?.labels?.join(', ')}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </Stack>
  );
}
