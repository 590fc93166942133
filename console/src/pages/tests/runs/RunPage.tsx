import { Button, Group, List, Loader, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { codeText } from '../../../codes/codeText.ts';
import { FormError } from '../../../components/FormError.tsx';
import { formatDateTime, formatTook } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { PageLink } from '../../../layout/links.tsx';
import { PageTitle } from '../../../layout/PageTitle.tsx';
import { useScope } from '../../../session/session.ts';
import { textsIn } from '../../../texts.ts';
import { countsText } from '../../campaigns/counts.ts';
import { StatusBadge } from '../StatusBadge.tsx';
import { runQuery, type TestRun } from '../testData.ts';
import { useRunEvents } from '../useRunEvents.ts';
import { CaseResult } from './CaseResult.tsx';
import { runVariant } from './runVariant.ts';
import { SummaryText } from './SummaryText.tsx';

const texts = textsIn({
  en: {
    back: 'Tests',
    loading: 'The run is loading',
    facts: (version: string, repeat: number, seed: number) =>
      `${version} · repeated ${repeat} × · seed ${seed}`,
    took: (time: string) => `took ${time}`,
    progress: (done: number, all: number) => `${done} of ${all} plays have ended`,
    cancel: 'Cancel the run',
    report: 'HTML report',
    junit: 'JUnit XML',
    comparison: 'Compared with the baseline',
    newlyFailing: 'Newly failing',
    newlyPassing: 'Newly passing',
    slower: 'Slower',
    same: 'No case changed.',
    cases: 'Cases',
  },
  'zh-TW': {
    back: '測試',
    loading: '正在載入執行結果',
    facts: (version: string, repeat: number, seed: number) => `${version} · 重複 ${repeat} 次 · 種子 ${seed}`,
    took: (time: string) => `耗時 ${time}`,
    progress: (done: number, all: number) => `${all} 次執行中已完成 ${done} 次`,
    cancel: '取消執行',
    report: 'HTML 報告',
    junit: 'JUnit XML',
    comparison: '與基準比較',
    newlyFailing: '新的失敗',
    newlyPassing: '新的通過',
    slower: '變慢',
    same: '沒有案例改變。',
    cases: '案例',
  },
});

/** What a run came to; while it goes on, what has been played so far. */
export function RunPage() {
  const { projectId, testRunId } = useParams({ from: '/projects/$projectId/tests/runs/$testRunId' });
  const { data: run, error } = useQuery(runQuery(useApi(), projectId, testRunId));
  useRunEvents(projectId);
  if (error && !run) return <ErrorPage error={error} />;
  return (
    <Stack maw={1100}>
      <PageLink to="/projects/$projectId/tests" params={{ projectId }} search={{ tab: 'runs' }} size="sm">
        ← {texts.back}
      </PageLink>
      {run ? <Run run={run} /> : <Loader aria-label={texts.loading} />}
    </Stack>
  );
}

function Run({ run }: { run: TestRun }) {
  const { name, status, repeat, seed, createdAt, startedAt, endedAt, summary, outcomes, cases } = run;
  const plays = cases.flatMap(({ runs }) => runs);
  const done = plays.filter((play) => play.status !== 'queued' && play.status !== 'running').length;
  return (
    <>
      <Group justify="space-between">
        <Group gap="sm">
          <PageTitle>{name}</PageTitle>
          <StatusBadge status={status} />
        </Group>
        <RunActions run={run} />
      </Group>
      <Group gap="xs" c="dimmed">
        <Text size="sm">{formatDateTime(createdAt)}</Text>
        <Text size="sm">{texts.facts(runVariant(run), repeat, seed)}</Text>
        {startedAt !== null && endedAt !== null && (
          <Text size="sm">{texts.took(formatTook(Date.parse(endedAt) - Date.parse(startedAt)))}</Text>
        )}
      </Group>
      {endedAt === null && (
        <Stack gap={4} aria-live="polite">
          <Progress
            value={plays.length > 0 ? (done / plays.length) * 100 : 0}
            animated
            aria-label={texts.progress(done, plays.length)}
          />
          <Text size="sm">{texts.progress(done, plays.length)}</Text>
        </Stack>
      )}
      <SummaryText summary={summary} fw={600} />
      {outcomes && <Outcomes outcomes={outcomes} />}
      <Comparison run={run} />
      <Title order={2} size="h4">
        {texts.cases}
      </Title>
      {cases.map((one, position) => (
        <CaseResult key={one.testCaseId ?? one.contactId ?? position} result={one} run={run} />
      ))}
    </>
  );
}

/** What the calls of a rehearsal have come to. */
function Outcomes({ outcomes }: { outcomes: NonNullable<TestRun['outcomes']> }) {
  const counted = Object.entries(outcomes).filter(([, count]) => count > 0);
  const named = counted.map(([outcome, count]) => [codeText('contactOutcome', outcome), count] as const);
  return <Text size="sm">{countsText(new Map(named))}</Text>;
}

function RunActions({ run: { id: testRunId, projectId, endedAt } }: { run: TestRun }) {
  const api = useApi();
  const queries = useQueryClient();
  const mayWrite = useScope('write');
  const cancel = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/test-runs/{testRunId}/cancel', {
          params: { path: { projectId, testRunId } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['test-run', testRunId] }),
  });
  const reports = `/v1/projects/${projectId}/test-runs/${testRunId}`;
  return (
    <Group gap="xs">
      {endedAt === null && mayWrite && (
        <Button variant="default" onClick={() => cancel.mutate()} loading={cancel.isPending}>
          {texts.cancel}
        </Button>
      )}
      <Button variant="default" component="a" href={`${reports}/report`} target="_blank" rel="noreferrer">
        {texts.report}
      </Button>
      <Button variant="default" component="a" href={`${reports}/junit`} target="_blank" rel="noreferrer">
        {texts.junit}
      </Button>
      <FormError error={cancel.error} />
    </Group>
  );
}

function Comparison({ run: { comparison, cases } }: { run: TestRun }) {
  if (!comparison) return null;
  const nameOf = (id: string) => cases.find(({ testCaseId }) => testCaseId === id)?.name ?? id;
  const changed = (['newlyFailing', 'newlyPassing', 'slower'] as const).filter(
    (kind) => comparison[kind].length > 0,
  );
  return (
    <Paper withBorder p="md" radius="md">
      <Title order={2} size="h5" mb="xs">
        {texts.comparison}
      </Title>
      {changed.length === 0 && <Text size="sm">{texts.same}</Text>}
      <Group align="flex-start" gap="xl">
        {changed.map((kind) => (
          <Stack key={kind} gap={4}>
            <Text size="sm" fw={600} {...(kind !== 'newlyPassing' && { c: 'var(--mantine-color-error)' })}>
              {texts[kind]}
            </Text>
            <List size="sm" style={{ overflowWrap: 'anywhere' }}>
              {comparison[kind].map((id) => (
                <List.Item key={id}>{nameOf(id)}</List.Item>
              ))}
            </List>
          </Stack>
        ))}
      </Group>
    </Paper>
  );
}
