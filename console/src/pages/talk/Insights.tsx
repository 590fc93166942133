import { Badge, Code, Group, Paper, Progress, Stack, Table, Text, Timeline, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { formatLatency } from '../../formats.ts';
import { textsIn } from '../../texts.ts';
import { pathwayQuery } from '../agent/agentQueries.ts';
import type { TalkState, ToolCall, TurnLatency, VisitedNode } from './talkState.ts';

/** Loaded where there is room for it. */
const PathCanvas = lazy(async () => ({ default: (await import('./PathCanvas.tsx')).PathCanvas }));
const WIDE = '(min-width: 75em)';

/** In the order in which they happen, each with its color. */
const PARTS = {
  bufferMs: 'gray.6',
  endpointingMs: 'yellow.6',
  transcriptionMs: 'orange.6',
  answerMs: 'cyan.7',
  toolMs: 'teal.6',
  speechMs: 'violet.6',
  playoutMs: 'pink.6',
} as const;

const texts = textsIn({
  en: {
    path: 'Path',
    current: 'now',
    variables: 'Variables',
    tools: 'Tool calls',
    latency: 'Latency of the answers',
    nothing: 'Nothing yet.',
    running: 'running',
    failed: 'failed',
    done: 'done',
    turn: (number: number) => `Turn ${number}`,
    interrupted: 'interrupted',
    parts: {
      bufferMs: 'buffer',
      endpointingMs: 'end of turn',
      transcriptionMs: 'recognition',
      answerMs: 'answer',
      toolMs: 'tools',
      speechMs: 'speech',
      playoutMs: 'playout',
    },
  },
  'zh-TW': {
    path: '路徑',
    current: '目前',
    variables: '變數',
    tools: '工具呼叫',
    latency: '回答延遲',
    nothing: '尚無資料。',
    running: '執行中',
    failed: '失敗',
    done: '完成',
    turn: (number: number) => `第 ${number} 輪`,
    interrupted: '被打斷',
    parts: {
      bufferMs: '緩衝',
      endpointingMs: '判斷說完',
      transcriptionMs: '辨識',
      answerMs: '回答',
      toolMs: '工具',
      speechMs: '語音合成',
      playoutMs: '播放',
    },
  },
});

/** What happens behind the words. */
export function Insights({ state: { path, variables, tools, latencies } }: { state: TalkState }) {
  return (
    <Stack>
      <Path path={path} />
      <Section title={texts.latency} isEmpty={latencies.length === 0}>
        {latencies.toReversed().map((latency) => (
          <Latency key={latency.turn} latency={latency} />
        ))}
      </Section>
      <Section title={texts.variables} isEmpty={Object.keys(variables).length === 0}>
        <Table layout="fixed">
          <Table.Tbody>
            {Object.entries(variables).map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">{name}</Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{JSON.stringify(value)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Section>
      <Section title={texts.tools} isEmpty={tools.length === 0}>
        {tools.map((tool) => (
          <Tool key={tool.id} tool={tool} />
        ))}
      </Section>
    </Stack>
  );
}

/** On the canvas; as a list where there is no room, and for a version whose node the pathway has no more. */
function Path({ path }: { path: readonly VisitedNode[] }) {
  const projectId = useProjectId();
  const isWide = useMediaQuery(WIDE);
  const { data: pathway } = useQuery({ ...pathwayQuery(useApi(), projectId), enabled: isWide === true });
  const currentId = path.at(-1)?.id;
  const isKnown = (id: string) => pathway?.graph.nodes.some((node) => node.id === id);
  if (isWide && pathway && (currentId === undefined || isKnown(currentId))) {
    return (
      <Section title={texts.path} isEmpty={false}>
        <Suspense>
          <PathCanvas graph={pathway.graph} currentId={currentId} />
        </Suspense>
      </Section>
    );
  }
  return (
    <Section title={texts.path} isEmpty={path.length === 0}>
      <PathList path={path} />
    </Section>
  );
}

/** The nodes that the conversation went through; the last one is lit. */
function PathList({ path }: { path: readonly VisitedNode[] }) {
  return (
    <Timeline active={path.length - 1} bulletSize={14} lineWidth={2}>
      {path.map(({ id, title }, index) => {
        const isCurrent = index === path.length - 1;
        return (
          <Timeline.Item
            // biome-ignore lint/suspicious/noArrayIndexKey: a node may be entered more than once, and the list only grows.
            key={index}
            aria-current={isCurrent ? 'step' : undefined}
            title={
              <Group gap="xs">
                <Text span fw={isCurrent ? 700 : 400}>
                  {title || id}
                </Text>
                {isCurrent && <Badge size="sm">{texts.current}</Badge>}
              </Group>
            }
          />
        );
      })}
    </Timeline>
  );
}

function Latency({ latency: { turn, latencyMs, parts, isInterrupted } }: { latency: TurnLatency }) {
  const known = (Object.keys(PARTS) as (keyof typeof PARTS)[]).filter((name) => parts[name] !== undefined);
  const total = known.reduce((sum, name) => sum + (parts[name] ?? 0), 0);
  return (
    <div>
      <Group justify="space-between">
        <Text size="sm">
          {texts.turn(turn)}
          {isInterrupted && ` (${texts.interrupted})`}
        </Text>
        <Text size="sm" fw={600}>
          {formatLatency(latencyMs)}
        </Text>
      </Group>
      {known.length > 0 && (
        <>
          <Progress.Root size="md" aria-hidden>
            {known.map((name) => (
              <Progress.Section key={name} value={((parts[name] ?? 0) / total) * 100} color={PARTS[name]} />
            ))}
          </Progress.Root>
          <Text size="xs" c="dimmed">
            {known.map((name) => `${texts.parts[name]} ${formatLatency(parts[name] ?? 0)}`).join(' · ')}
          </Text>
        </>
      )}
    </div>
  );
}

function Tool({ tool: { name, arguments: given, outcome } }: { tool: ToolCall }) {
  const state = outcome === undefined ? texts.running : outcome.ok ? texts.done : texts.failed;
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Badge color={outcome?.ok === false ? 'red' : 'gray'} variant="outline">
          {state}
          {outcome?.durationMs !== undefined && ` · ${formatLatency(outcome.durationMs)}`}
        </Badge>
      </Group>
      <Code block>{given}</Code>
      {outcome && <Code block>{outcome.result}</Code>}
    </Stack>
  );
}

function Section({ title, isEmpty, children }: { title: string; isEmpty: boolean; children: ReactNode }) {
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {isEmpty ? <Text c="dimmed">{texts.nothing}</Text> : <Stack gap="sm">{children}</Stack>}
    </Paper>
  );
}
