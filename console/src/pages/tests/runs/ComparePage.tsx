import { Loader, Stack, Table, Text } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';

import { useApi } from '../../../api/apiContext.tsx';
import { formatDateTime, formatLatency } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { PageLink } from '../../../layout/links.tsx';
import { PageTitle } from '../../../layout/PageTitle.tsx';
import { textsIn } from '../../../texts.ts';
import { StatusBadge } from '../StatusBadge.tsx';
import { runQuery, type TestRun } from '../testData.ts';
import { useRunEvents } from '../useRunEvents.ts';
import { runVariant } from './runVariant.ts';
import { SummaryText } from './SummaryText.tsx';

const texts = textsIn({
  en: {
    back: 'Tests',
    title: 'Runs side by side',
    loading: 'The runs are loading',
    case: 'Case',
    p95: (latency: string) => `p95 ${latency}`,
  },
  'zh-TW': {
    back: '測試',
    title: '並列比較',
    loading: '正在載入執行結果',
    case: '案例',
    p95: (latency: string) => `p95 ${latency}`,
  },
});

/** Several runs in one table: what became of each case in each of them. */
export function ComparePage() {
  const { projectId } = useParams({ from: '/projects/$projectId/tests/compare' });
  const { runs: ids } = useSearch({ from: '/projects/$projectId/tests/compare' });
  const api = useApi();
  const queries = useQueries({ queries: ids.split(',').map((id) => runQuery(api, projectId, id)) });
  useRunEvents(projectId);
  const error = queries.find((one) => one.error)?.error;
  const runs = queries.flatMap(({ data }) => data ?? []);
  if (error) return <ErrorPage error={error} />;
  return (
    <Stack>
      <PageLink to="/projects/$projectId/tests" params={{ projectId }} search={{ tab: 'runs' }} size="sm">
        ← {texts.back}
      </PageLink>
      <PageTitle>{texts.title}</PageTitle>
      {runs.length < queries.length ? <Loader aria-label={texts.loading} /> : <Comparison runs={runs} />}
    </Stack>
  );
}

function Comparison({ runs }: { runs: readonly TestRun[] }) {
  const keyOf = ({ testCaseId, name }: TestRun['cases'][number]) => testCaseId ?? name;
  const cases = new Map(runs.flatMap((run) => run.cases.map((one) => [keyOf(one), one.name] as const)));
  return (
    <Table.ScrollContainer minWidth={200 + 180 * runs.length}>
      <Table withTableBorder>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.case}</Table.Th>
            {runs.map((run) => (
              <Table.Th key={run.id}>
                <PageLink
                  to="/projects/$projectId/tests/runs/$testRunId"
                  params={{ projectId: run.projectId, testRunId: run.id }}
                >
                  {runVariant(run)}
                </PageLink>
                <Text size="xs">{formatDateTime(run.createdAt)}</Text>
                <SummaryText summary={run.summary} size="xs" />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...cases].map(([key, name]) => (
            <Table.Tr key={key}>
              <Table.Th scope="row">{name}</Table.Th>
              {runs.map((run) => (
                <Table.Td key={run.id}>
                  <Result result={run.cases.find((one) => keyOf(one) === key)} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Result({ result }: { result: TestRun['cases'][number] | undefined }) {
  if (!result) return null;
  const { p95 } = result.latencyMs;
  return (
    <>
      <StatusBadge status={result.status} />
      {p95 !== null && (
        <Text size="xs" c="dimmed">
          {texts.p95(formatLatency(p95))}
        </Text>
      )}
    </>
  );
}
