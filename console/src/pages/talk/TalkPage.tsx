import { Alert, Button, Grid, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';

import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { CallBar } from './CallBar.tsx';
import { Composer } from './Composer.tsx';
import { Insights } from './Insights.tsx';
import { TestCaseButton } from './TestCaseButton.tsx';
import { Transcript } from './Transcript.tsx';
import type { AgentVersion } from './talkService.ts';
import type { TalkState } from './talkState.ts';
import { useTalk } from './useTalk.ts';

const texts = textsIn({
  en: {
    title: 'Talk',
    version: 'Version of the agent',
    live: 'Live',
    draft: 'Draft',
    restart: 'Start again',
    over: 'The conversation has ended. Start again for a new one.',
    transfer: (to: string) =>
      `The agent would transfer the call to ${to}. A browser has no line to transfer.`,
    problems: {
      unsupported: 'Calls need a page over https, or on this machine, and a current browser.',
      microphone_denied: 'The microphone is blocked. Allow it for this page, then call again.',
      microphone_missing: 'No microphone was found.',
      lost: 'The connection was lost.',
      not_allowed: 'The call was ended by the service.',
    },
  },
  'zh-TW': {
    title: '對話',
    version: '代理的版本',
    live: '上線版',
    draft: '草稿',
    restart: '重新開始',
    over: '對話已結束。按「重新開始」可開始新的對話。',
    transfer: (to: string) => `代理會將電話轉接至 ${to}，但瀏覽器沒有可轉接的線路。`,
    problems: {
      unsupported: '通話需要透過 https 或在本機開啟頁面，並使用最新的瀏覽器。',
      microphone_denied: '麥克風已被封鎖。請允許此頁面使用麥克風，然後再撥一次。',
      microphone_missing: '找不到麥克風。',
      lost: '連線中斷。',
      not_allowed: '服務已結束通話。',
    },
  },
});

/** Chat and voice with the agent, and what happens behind the words. */
export function TalkPage() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  const [version, setVersion] = useState<AgentVersion>('live');
  const callerLevel = useRef<HTMLDivElement>(null);
  const agentLevel = useRef<HTMLDivElement>(null);
  const { state, actions } = useTalk(projectId, version, (caller, agent) => {
    for (const [bar, level] of [
      [callerLevel.current, caller],
      [agentLevel.current, agent],
    ] as const)
      if (bar) bar.style.transform = `scaleX(${level})`;
  });
  const mayCall = useScope('calls');
  const mayWrite = useScope('write');
  const hasBegun = state.lines.length > 0 || state.path.length > 0;
  return (
    <Stack>
      <Group justify="space-between">
        <PageTitle>{texts.title}</PageTitle>
        <Group>
          <SegmentedControl
            aria-label={texts.version}
            value={version}
            onChange={(value) => setVersion(value as AgentVersion)}
            disabled={hasBegun}
            data={[
              { value: 'live', label: texts.live },
              { value: 'draft', label: texts.draft },
            ]}
          />
          <Button variant="default" onClick={actions.restart} disabled={!hasBegun}>
            {texts.restart}
          </Button>
        </Group>
      </Group>
      <Notices state={state} />
      <Grid>
        <Grid.Col span={{ base: 12, md: 7, lg: 5 }}>
          <Paper withBorder p="md">
            <Stack>
              {mayCall && !state.isOver && (
                <CallBar state={state} actions={actions} callerLevel={callerLevel} agentLevel={agentLevel} />
              )}
              <Transcript lines={state.lines} />
              {state.isOver && <Text c="dimmed">{texts.over}</Text>}
              {mayWrite && (
                <Composer
                  isDisabled={isAnswering(state) || state.isOver}
                  onSend={(text) => void actions.send(text)}
                />
              )}
              {mayWrite && hasBegun && state.call === 'none' && (
                <TestCaseButton key={state.sessionId} projectId={projectId} sessionId={state.sessionId} />
              )}
            </Stack>
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5, lg: 7 }}>
          <Insights state={state} />
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

function Notices({ state: { problem, transferTo } }: { state: TalkState }) {
  return (
    <>
      {problem !== undefined && (
        <Alert color="red" variant="outline">
          {problem instanceof Error ? problem.message : texts.problems[problem]}
        </Alert>
      )}
      {transferTo !== undefined && (
        <Alert color="cyan" variant="outline">
          {texts.transfer(transferTo)}
        </Alert>
      )}
    </>
  );
}

const isAnswering = ({ lines }: TalkState) => lines.some((line) => line.isChat && !line.isFinal);
