import { Badge, Button, CopyButton, Grid, Group, Loader, Stack, Tabs, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { ArrowDownIcon, ArrowUpIcon, ChatBubbleIcon, Link2Icon } from '@radix-ui/react-icons';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useEffect, useMemo, useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { type LiveEventType, useLiveEvents } from '../../api/liveEvents.ts';
import { codeText } from '../../codes/codeText.ts';
import { formatDateTime, formatDuration } from '../../formats.ts';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { textsIn } from '../../texts.ts';
import { StatusBadge } from '../calls/StatusBadge.tsx';
import { STATES } from './colors.ts';
import { Findings } from './Findings.tsx';
import {
  type Axis,
  axisOf,
  isLive,
  recordingSpan,
  type Timeline as TimelineData,
} from './model/callTimeline.ts';
import { findingsOf } from './model/findings.ts';
import { turnsOf } from './model/turns.ts';
import { Player } from './Player.ts';
import { Results } from './panels/Results.tsx';
import { Transcript } from './panels/Transcript.tsx';
import { Waterfall } from './panels/Waterfall.tsx';
import { Timeline } from './timeline/Timeline.tsx';

// What a call that has ended shows at first needs none of them.
const LiveControls = lazyRouteComponent(() => import('../calls/live/LiveControls.tsx'), 'LiveControls');
const SipLadder = lazyRouteComponent(() => import('./panels/SipLadder.tsx'), 'SipLadder');
const Webhooks = lazyRouteComponent(() => import('./panels/Webhooks.tsx'), 'Webhooks');
const Details = lazyRouteComponent(() => import('./panels/Details.tsx'), 'Details');

const route = getRouteApi('/projects/$projectId/calls/$callId');
const FOLLOWED: readonly LiveEventType[] = [
  'call.answered',
  'call.ended',
  'turn.user',
  'turn.agent',
  'node.entered',
  'tool.finished',
  'recording.ready',
  'session.finalized',
];
/** Figures of the audio and the length of what goes on. */
const REFRESH_MS = 5_000;

const texts = textsIn({
  en: {
    copy: 'Copy the link to this place',
    copied: 'Copied',
    chat: 'Chat',
    inbound: 'Inbound call',
    outbound: 'Outbound call',
    latency: 'Latency',
    sip: 'SIP',
    webhooks: 'Webhooks',
    details: 'Details',
    panels: 'What the call was made of',
    transcript: 'Transcript',
    test: 'Test',
    recording: 'Recording',
    recordingPaused: 'Recording paused',
  },
  'zh-TW': {
    copy: '複製此處的連結',
    copied: '已複製',
    chat: '文字對話',
    inbound: '來電',
    outbound: '撥出',
    latency: '延遲',
    sip: 'SIP',
    webhooks: 'Webhook',
    details: '詳細資料',
    panels: '通話的組成',
    transcript: '逐字稿',
    test: '測試',
    recording: '錄音中',
    recordingPaused: '錄音已暫停',
  },
});

/** One call or session, explained on one time line. */
export function CallPage() {
  const { projectId, callId } = route.useParams();
  const api = useApi();
  const queries = useQueryClient();
  const queryKey = ['call', projectId, callId, 'timeline'];
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey,
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/calls/{callId}/timeline', {
          params: { path: { projectId, callId } },
        }),
      ),
    refetchInterval: ({ state }) => (state.data && isOngoing(state.data) ? REFRESH_MS : false),
  });
  useLiveEvents(
    projectId,
    { types: FOLLOWED, callId: data?.call?.id, isOn: data !== undefined && isOngoing(data) },
    () => void queries.invalidateQueries({ queryKey }),
  );
  if (!data) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.transcript} />;
  return <Loaded projectId={projectId} timeline={data} nowMs={dataUpdatedAt} />;
}

/** The last webhooks and the recording come after the call's end. */
function isOngoing(timeline: TimelineData): boolean {
  return isLive(timeline) || timeline.call?.recording?.status === 'recording';
}

function Loaded({
  projectId,
  timeline,
  nowMs,
}: {
  projectId: string;
  timeline: TimelineData;
  nowMs: number;
}) {
  const axis = useMemo(() => axisOf(timeline, nowMs), [timeline, nowMs]);
  const player = usePlayer(projectId, timeline, axis);
  const turns = useMemo(() => turnsOf(timeline, axis), [timeline, axis]);
  const findings = useMemo(() => findingsOf(timeline, axis, turns), [timeline, axis, turns]);
  const { call } = timeline;
  return (
    <Stack gap="md">
      <Header timeline={timeline} player={player} />
      {call?.status === 'in_progress' && (
        <Suspense>
          <LiveControls projectId={projectId} call={call} />
        </Suspense>
      )}
      {(findings.length > 0 || !isLive(timeline)) && <Findings findings={findings} player={player} />}
      <Results timeline={timeline} />
      {call && (
        <Timeline projectId={projectId} timeline={timeline} axis={axis} turns={turns} player={player} />
      )}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Title order={2} size="h4" mb="xs">
            {texts.transcript}
          </Title>
          <Transcript timeline={timeline} axis={axis} player={player} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Tabs defaultValue="latency" keepMounted={false}>
            <Tabs.List aria-label={texts.panels} mb="sm">
              <Tabs.Tab value="latency">{texts.latency}</Tabs.Tab>
              {call && <Tabs.Tab value="sip">{texts.sip}</Tabs.Tab>}
              <Tabs.Tab value="webhooks">
                {texts.webhooks} {timeline.deliveries.length}
              </Tabs.Tab>
              <Tabs.Tab value="details">{texts.details}</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="latency">
              <Waterfall turns={turns} player={player} />
            </Tabs.Panel>
            <Suspense>
              {call && (
                <Tabs.Panel value="sip">
                  <SipLadder projectId={projectId} callId={call.id} axis={axis} isLive={isLive(timeline)} />
                </Tabs.Panel>
              )}
              <Tabs.Panel value="webhooks">
                <Webhooks deliveries={timeline.deliveries} />
              </Tabs.Panel>
              <Tabs.Panel value="details">
                <Details timeline={timeline} />
              </Tabs.Panel>
            </Suspense>
          </Tabs>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

function Header({ timeline, player }: { timeline: TimelineData; player: Player }) {
  const { call, sessionId, startedAt, test } = timeline;
  const name = call ? `${call.fromNumber} → ${call.toNumber}` : sessionId;
  useDocumentTitle(`${name} · Callway`);
  const [atMs, setAtMs] = useState(0);
  const link = `${location.origin}${location.pathname}?t=${(atMs / 1000).toFixed(1)}`;
  return (
    <Group justify="space-between" align="flex-start">
      <Stack gap={4}>
        <Group gap="sm">
          <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
            {!call ? (
              <ChatBubbleIcon aria-label={texts.chat} />
            ) : call.direction === 'inbound' ? (
              <ArrowDownIcon aria-label={texts.inbound} />
            ) : (
              <ArrowUpIcon aria-label={texts.outbound} />
            )}{' '}
            {name}
          </Title>
          {call ? (
            <StatusBadge call={call} />
          ) : (
            <Badge variant="default" tt="none" title={timeline.status}>
              {codeText('sessionStatus', timeline.status)}
            </Badge>
          )}
          {call?.status === 'in_progress' && call.recording?.status === 'recording' && (
            <Badge variant={call.recordingPaused ? 'default' : 'filled'} color={STATES.bad} tt="none">
              {call.recordingPaused ? texts.recordingPaused : texts.recording}
            </Badge>
          )}
          {test && (
            <Badge variant="default" tt="none">
              {texts.test}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" title={call?.endReason ?? ''}>
          {[
            formatDateTime(call?.startedAt ?? startedAt),
            call?.durationMs == null ? '' : formatDuration(call.durationMs),
            call?.endReason ? codeText('callEnd', call.endReason) : '',
          ]
            .filter((part) => part !== '')
            .join(' · ')}
        </Text>
      </Stack>
      <CopyButton value={link}>
        {({ copied, copy }) => (
          <Button
            variant="default"
            size="xs"
            leftSection={<Link2Icon />}
            onPointerDown={() => setAtMs(player.positionMs)}
            onFocus={() => setAtMs(player.positionMs)}
            onClick={copy}
          >
            {copied ? texts.copied : texts.copy}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}

/** One player for a recording, which begins at the place that the address names. */
function usePlayer(projectId: string, timeline: TimelineData, axis: Axis): Player {
  const { t } = route.useSearch();
  const { fromMs, lengthMs } = recordingSpan(timeline, axis) ?? {};
  const callId = timeline.call?.id ?? '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address that changes later moves nothing.
  const player = useMemo(() => {
    const url = `/v1/projects/${encodeURIComponent(projectId)}/calls/${callId}/audio`;
    const span = fromMs === undefined || lengthMs === undefined ? undefined : { fromMs, lengthMs };
    return new Player(url, span, 1000 * (t ?? 0));
  }, [projectId, callId, fromMs, lengthMs]);
  useEffect(() => () => player.close(), [player]);
  return player;
}
