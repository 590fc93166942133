import { Badge, Button, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { PagedTable } from '../../components/PagedTable.tsx';
import { formatDateTime } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { reviewsQuery } from './reviewData.ts';

/** Of one request. */
const MOST_CASES = 100;

const texts = textsIn({
  en: {
    reviewed: 'Reviewed conversations',
    session: 'Conversation',
    verdict: 'Verdict',
    good: 'Good',
    bad: 'Bad',
    note: 'Note',
    labels: 'Labels',
    none: 'No conversation is reviewed yet.',
    cases: (count: number) =>
      count === 1 ? 'Make a test case of the bad one' : `Make test cases of the ${count} bad ones`,
    made: (count: number) => (count === 1 ? '1 test case is made: ' : `${count} test cases are made: `),
    tests: 'Tests',
  },
  'zh-TW': {
    reviewed: '審查過的對話',
    session: '對話',
    verdict: '判斷',
    good: '好',
    bad: '不好',
    note: '備註',
    labels: '標籤',
    none: '尚無審查過的對話。',
    cases: (count: number) => `將 ${count} 段不好的對話轉為測試案例`,
    made: (count: number) => `已建立 ${count} 個測試案例：`,
    tests: '測試',
  },
});

/** What people said of conversations; the bad ones become test cases. */
export function DoneReviews({ projectId, mayWrite }: { projectId: string; mayWrite: boolean }) {
  const api = useApi();
  const queries = useQueryClient();
  const pages = useInfiniteQuery(reviewsQuery(api, projectId, 'done'));
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
  const bad = [
    ...new Set(
      (pages.data?.items ?? [])
        .filter(({ review }) => review?.verdict === 'bad')
        .map(({ sessionId }) => sessionId),
    ),
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
      <FormError error={make.error} />
      <PagedTable
        label={texts.reviewed}
        pages={pages}
        none={texts.none}
        minWidth={420}
        headings={[texts.session, texts.verdict, texts.note, texts.labels]}
      >
        {({ sessionId, callId, startedAt, review }) => (
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
            <Table.Td style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>{review?.note}</Table.Td>
            <Table.Td>{review?.labels?.join(', ')}</Table.Td>
          </Table.Tr>
        )}
      </PagedTable>
    </Stack>
  );
}
