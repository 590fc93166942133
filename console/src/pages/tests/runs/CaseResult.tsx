import { Accordion, Group, Paper, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import { codeText } from '../../../codes/codeText.ts';
import { formatLatency, formatNumber } from '../../../formats.ts';
import { PageLink } from '../../../layout/links.tsx';
import { textsIn } from '../../../texts.ts';
import { StatusBadge } from '../StatusBadge.tsx';
import type { Play, PlayedCase, TestRun } from '../testData.ts';
import { PassRate } from './PassRate.tsx';
import { PlayDetails } from './PlayDetails.tsx';

const texts = textsIn({
  en: {
    passed: (passed: string, all: string) => `${passed} of ${all} plays passed`,
    latency: (p50: string, p95: string) => `answers in ${p50} (p50), ${p95} (p95)`,
    play: (number: number) => `Play ${number}`,
    failures: (count: number) => (count === 1 ? '1 assertion failed' : `${count} assertions failed`),
  },
  'zh-TW': {
    passed: (passed: string, all: string) => `${all} 次執行中通過 ${passed} 次`,
    latency: (p50: string, p95: string) => `回應時間 ${p50}（p50）、${p95}（p95）`,
    play: (number: number) => `第 ${number} 次`,
    failures: (count: number) => `${count} 項斷言失敗`,
  },
});

/** A case in a run: how often it passed, and its plays. */
export function CaseResult({ result, run }: { result: PlayedCase; run: TestRun }) {
  const { testCaseId, name, status, passed, failed, passRate, latencyMs, runs, outcome } = result;
  const { projectId } = run;
  const [opened, setOpened] = useState<string[]>();
  // In a run that goes on, the first failure opens as it comes, and stays.
  const first = opened ? undefined : firstToLookAt(runs);
  if (first) setOpened(first);
  return (
    <Paper withBorder p="md" radius="md" component="article" aria-label={name}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Stack gap={4} miw={0}>
          {testCaseId ? (
            <PageLink
              to="/projects/$projectId/tests/cases/$testCaseId"
              params={{ projectId, testCaseId }}
              fw={600}
              style={{ overflowWrap: 'anywhere' }}
            >
              {name}
            </PageLink>
          ) : (
            <Text fw={600}>{name}</Text>
          )}
          <Group gap="xs" c="dimmed">
            {outcome !== undefined && <Text size="xs">{codeText('contactOutcome', outcome)}</Text>}
            {passed + failed > 0 && (
              <Text size="xs">{texts.passed(formatNumber(passed), formatNumber(passed + failed))}</Text>
            )}
            {latencyMs.p50 !== null && latencyMs.p95 !== null && (
              <Text size="xs">
                {texts.latency(formatLatency(latencyMs.p50), formatLatency(latencyMs.p95))}
              </Text>
            )}
          </Group>
          {passRate && passed + failed > 1 && <PassRate passRate={passRate} />}
        </Stack>
        <StatusBadge status={status} />
      </Group>
      <Accordion
        multiple
        value={opened ?? []}
        onChange={setOpened}
        keepMounted={false}
        mt="sm"
        variant="separated"
      >
        {runs.map((play) => {
          const value = String(play.index);
          return (
            <Accordion.Item key={value} value={value}>
              <Accordion.Control>
                <PlayHeading play={play} />
              </Accordion.Control>
              <Accordion.Panel>
                <PlayDetails projectId={projectId} play={play} />
              </Accordion.Panel>
            </Accordion.Item>
          );
        })}
      </Accordion>
    </Paper>
  );
}

function PlayHeading({ play: { index, status, assertions } }: { play: Play }) {
  const failures = assertions.filter(({ passed }) => !passed).length;
  return (
    <Group gap="sm" justify="space-between" pr="xs">
      <Text size="sm">{texts.play(index + 1)}</Text>
      <Group gap="xs">
        {failures > 0 && (
          <Text size="xs" c="var(--mantine-color-error)">
            {texts.failures(failures)}
          </Text>
        )}
        <StatusBadge status={status} />
      </Group>
    </Group>
  );
}

/** What did not pass is open at first. */
function firstToLookAt(runs: readonly Play[]): string[] | undefined {
  const play = runs.find(({ status }) => status === 'failed' || status === 'error');
  return play && [String(play.index)];
}
