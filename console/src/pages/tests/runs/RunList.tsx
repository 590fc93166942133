import { Checkbox, Group, Loader, Paper, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import { formatDateTime, formatTook } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { PageLink } from '../../../layout/links.tsx';
import { PageNumbers } from '../../../layout/PageNumbers.tsx';
import { textsIn } from '../../../texts.ts';
import { StatusBadge } from '../StatusBadge.tsx';
import { type ListedRun, RUNS_PAGE_SIZE, useRuns } from '../testData.ts';
import { runVariant } from './runVariant.ts';
import { SummaryText } from './SummaryText.tsx';

const texts = textsIn({
  en: {
    none: 'Nothing was run yet.',
    loading: 'The runs are loading',
    pages: 'Pages of runs',
    choose: (name: string) => `Choose ${name} to compare`,
    compare: (count: number) => `Compare ${count} runs`,
  },
  'zh-TW': {
    none: '尚未執行過。',
    loading: '正在載入執行紀錄',
    pages: '執行紀錄分頁',
    choose: (name: string) => `選擇「${name}」來比較`,
    compare: (count: number) => `比較 ${count} 次執行`,
  },
});

/** The runs of a project, or of one suite. */
export function RunList({ projectId, testSuiteId }: { projectId: string; testSuiteId?: string }) {
  const [page, setPage] = useState(1);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { data: runs, error } = useRuns(projectId, page, testSuiteId);
  if (error && !runs) return <ErrorPage error={error} />;
  return (
    <Stack gap="sm">
      {runs === undefined && <Loader aria-label={texts.loading} />}
      {runs?.pagination.total === 0 && <Text c="dimmed">{texts.none}</Text>}
      {runs?.data.map((run) => (
        <RunLine
          key={run.id}
          run={run}
          isChosen={chosen.includes(run.id)}
          onChoose={(isChosen) =>
            setChosen((before) => [...before.filter((id) => id !== run.id), ...(isChosen ? [run.id] : [])])
          }
        />
      ))}
      {chosen.length > 1 && (
        <PageLink
          to="/projects/$projectId/tests/compare"
          params={{ projectId }}
          search={{ runs: chosen.join() }}
        >
          {texts.compare(chosen.length)}
        </PageLink>
      )}
      <PageNumbers
        label={texts.pages}
        total={runs?.pagination.total ?? 0}
        pageSize={RUNS_PAGE_SIZE}
        page={page}
        onChange={setPage}
      />
    </Stack>
  );
}

function RunLine({
  run,
  isChosen,
  onChoose,
}: {
  run: ListedRun;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}) {
  const { id, projectId, name, status, createdAt, startedAt, endedAt, summary } = run;
  return (
    <Paper withBorder p="sm" radius="md">
      <Group justify="space-between" wrap="nowrap">
        <Checkbox
          aria-label={texts.choose(name)}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <Stack gap={2} miw={0} flex={1}>
          <PageLink
            to="/projects/$projectId/tests/runs/$testRunId"
            params={{ projectId, testRunId: id }}
            fw={600}
            style={{ overflowWrap: 'anywhere' }}
          >
            {name}
          </PageLink>
          <Group gap="xs" c="dimmed">
            <Text size="xs">{formatDateTime(createdAt)}</Text>
            <Text size="xs">{runVariant(run)}</Text>
            {startedAt !== null && endedAt !== null && (
              <Text size="xs">{formatTook(Date.parse(endedAt) - Date.parse(startedAt))}</Text>
            )}
          </Group>
          <SummaryText summary={summary} size="xs" />
        </Stack>
        <StatusBadge status={status} />
      </Group>
    </Paper>
  );
}
