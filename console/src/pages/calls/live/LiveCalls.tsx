import { Badge, Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { useLiveEvents } from '../../../api/liveEvents.ts';
import type { components } from '../../../api/schema.d.ts';
import { formatDuration } from '../../../formats.ts';
import { PageLink } from '../../../layout/links.tsx';
import { textsIn } from '../../../texts.ts';
import { StatusBadge } from '../StatusBadge.tsx';
import { ACTIVITY_EVENTS, type Activity, nextActivities } from './callActivity.ts';
import { LiveControls } from './LiveControls.tsx';

type Call = components['schemas']['Call'];
type CurrentNode = readonly [callId: string, nodeId: string | null];

/** Where events were lost, and for calls of other projects' nodes. */
const REFRESH_MS = 30_000;
/** No event tells the end of a test call. */
const TEST_REFRESH_MS = 5_000;
const NODE_REFRESH_MS = 2_000;
const SHOWN = 50;
/** Scheduled calls have not ended either; they have a list of their own. */
const STATUSES = 'queued,dialing,ringing,in_progress';
const SECOND_MS = 1_000;

const texts = textsIn({
  en: {
    title: 'Live now',
    none: 'No call at the moment.',
    caller: 'Caller’s turn',
    agent: 'Agent answers',
    paused: 'Agent paused',
    supervised: (count: number) => `${count} listening`,
    control: 'Control',
    close: 'Close',
    more: (count: number) => `and ${count} more`,
  },
  'zh-TW': {
    title: '進行中',
    none: '目前沒有通話。',
    caller: '輪到來電者',
    agent: '語音代理回應中',
    paused: '語音代理已暫停',
    supervised: (count: number) => `${count} 人旁聽`,
    control: '控制',
    close: '關閉',
    more: (count: number) => `還有 ${count} 通`,
  },
});

/** The calls that have not ended, as events tell. */
export function LiveCalls({ projectId, includeTests }: { projectId: string; includeTests: boolean }) {
  const api = useApi();
  const queries = useQueryClient();
  const [activities, dispatch] = useReducer(nextActivities, {});
  const { data } = useQuery({
    queryKey: ['calls', projectId, 'live', includeTests],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/calls', {
          params: {
            path: { projectId },
            query: {
              live: 'true',
              status: STATUSES,
              limit: `${SHOWN}`,
              includeTests: includeTests ? 'true' : 'false',
            },
          },
        }),
      ),
    refetchInterval: includeTests ? TEST_REFRESH_MS : REFRESH_MS,
  });
  const calls = data?.data ?? [];
  const nodes = useCurrentNodes(projectId, calls);
  useLiveEvents(projectId, { types: ACTIVITY_EVENTS }, (event) => {
    dispatch(event);
    if (event.type.startsWith('call.')) void queries.invalidateQueries({ queryKey: ['calls', projectId] });
  });
  return (
    <Stack gap="xs" component="section" aria-label={texts.title}>
      <Title order={2} size="h4">
        {texts.title}
      </Title>
      {data !== undefined && calls.length === 0 && <Text c="dimmed">{texts.none}</Text>}
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} spacing="sm">
        {calls.map((call) => (
          <LiveCall
            key={call.id}
            projectId={projectId}
            call={call}
            activity={{ ...nodes.get(call.id), ...activities[call.id] }}
          />
        ))}
      </SimpleGrid>
      {data !== undefined && data.pagination.total > calls.length && (
        <Text c="dimmed">{texts.more(data.pagination.total - calls.length)}</Text>
      )}
    </Stack>
  );
}

/** For calls that entered their node before this page was opened. */
function useCurrentNodes(projectId: string, calls: readonly Call[]): ReadonlyMap<string, Activity> {
  const api = useApi();
  const { data: titles } = useQuery({
    queryKey: ['pathway', projectId, 'titles'],
    queryFn: async () => {
      const { nodes } = await bodyOf(
        api.GET('/v1/projects/{projectId}/pathway', { params: { path: { projectId } } }),
      );
      return new Map(nodes.map(({ id, data }) => [id, data.title]));
    },
    enabled: calls.length > 0,
  });
  const sessions = useQueries({
    queries: calls
      .filter(({ status }) => status === 'in_progress')
      .map(({ id }) => ({
        queryKey: ['calls', projectId, 'node', id],
        queryFn: async () => {
          // Of a call whose session is not stored yet, too.
          const { messages } = await bodyOf(
            api.GET('/v1/projects/{projectId}/calls/{callId}/timeline', {
              params: { path: { projectId, callId: id } },
            }),
          );
          const nodeId = messages.findLast((message) => message.nodeId !== undefined)?.nodeId;
          return [id, nodeId ?? null] satisfies CurrentNode as CurrentNode;
        },
        staleTime: Number.POSITIVE_INFINITY,
        // It is stored when the first turn has ended.
        refetchInterval: ({ state }: { state: { data?: CurrentNode | undefined } }) =>
          state.data && state.data[1] === null ? NODE_REFRESH_MS : (false as const),
        retry: false,
      })),
  });
  return new Map(
    sessions.flatMap(({ data }): [string, Activity][] => {
      const [id, nodeId] = data ?? [];
      const node = nodeId == null ? undefined : (titles?.get(nodeId) ?? nodeId);
      return id !== undefined && node !== undefined ? [[id, { node }]] : [];
    }),
  );
}

function LiveCall({ projectId, call, activity }: { projectId: string; call: Call; activity: Activity }) {
  const [isOpen, setOpen] = useState(false);
  const { node, speaker, words } = activity;
  return (
    <Card withBorder padding="sm">
      <Stack gap={6}>
        <Group justify="space-between" wrap="nowrap">
          <PageLink
            to="/projects/$projectId/calls/$callId"
            params={{ projectId, callId: call.id }}
            fw={600}
            style={{ overflowWrap: 'anywhere' }}
          >
            {call.fromNumber} → {call.toNumber}
          </PageLink>
          <StatusBadge call={call} />
        </Group>
        <Group gap="xs">
          <Text size="sm" ff="monospace">
            <Ticking since={call.answeredAt ?? call.startedAt ?? call.createdAt} />
          </Text>
          {node && (
            <Badge variant="default" tt="none">
              {node}
            </Badge>
          )}
          {call.status === 'in_progress' && (call.agentPaused || speaker) && (
            <Text size="sm" c="dimmed">
              {call.agentPaused ? texts.paused : speaker === 'agent' ? texts.agent : texts.caller}
            </Text>
          )}
          {call.supervisors > 0 && (
            <Text size="sm" c="dimmed">
              {texts.supervised(call.supervisors)}
            </Text>
          )}
        </Group>
        {words && (
          <Text size="sm" c="dimmed" lineClamp={2}>
            {words}
          </Text>
        )}
        {call.status === 'in_progress' && (
          <Button
            size="compact-xs"
            variant="default"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            style={{ alignSelf: 'flex-start' }}
          >
            {isOpen ? texts.close : texts.control}
          </Button>
        )}
        {isOpen && call.status === 'in_progress' && <LiveControls projectId={projectId} call={call} />}
      </Stack>
    </Card>
  );
}

function Ticking({ since }: { since: string }) {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return formatDuration(nowMs - Date.parse(since));
}
