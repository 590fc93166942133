import { Alert, Button, Group, List, Stack, Table, Text, Title } from '@mantine/core';
import { CheckCircledIcon, CrossCircledIcon } from '@radix-ui/react-icons';
import { useRef } from 'react';

import { codeText } from '../../../codes/codeText.ts';
import { DataTable } from '../../../components/DataTable.tsx';
import { formatDuration, sentence } from '../../../formats.ts';
import { locale, textsIn } from '../../../texts.ts';
import { assertionTexts, endedByTexts } from '../assertionTexts.ts';
import type { Play, Verdict } from '../testData.ts';
import { Conversation } from './Conversation.tsx';
import { playErrorZh, verdictReasonZh, votesZh } from './verdictTextsZh.ts';

const texts = textsIn({
  en: {
    seed: (seed: number) => `Seed ${seed}`,
    assertions: 'Assertions',
    passed: 'passed',
    failed: 'failed',
    seen: 'Seen:',
    nothing: 'nothing',
    turn: (turn: number) => `turn ${turn + 1}`,
    hear: (time: string) => `Hear it at ${time}`,
    recording: 'Recording of the call: caller left, agent right',
    before: 'Before',
    after: 'Now',
    said: 'The person said',
  },
  'zh-TW': {
    seed: (seed: number) => `種子 ${seed}`,
    assertions: '斷言',
    passed: '通過',
    failed: '失敗',
    seen: '實際：',
    nothing: '無',
    turn: (turn: number) => `第 ${turn + 1} 步`,
    hear: (time: string) => `從 ${time} 播放`,
    recording: '通話錄音：左聲道為來電者，右聲道為代理',
    before: '之前',
    after: '現在',
    said: '使用者說',
  },
});

/** One play: what was judged, what was said, and the recording of a call. */
export function PlayDetails({ projectId, play }: { projectId: string; play: Play }) {
  const { seed, sessionId, recordingUrl, error, assertions, replay } = play;
  const audio = useRef<HTMLAudioElement>(null);
  const hear = (atMs: number) => {
    if (!audio.current) return;
    audio.current.currentTime = atMs / 1000;
    void audio.current.play();
  };
  return (
    <Stack>
      <Text size="xs" c="dimmed">
        {texts.seed(seed)}
      </Text>
      {error !== undefined && (
        <Alert color="red" variant="outline">
          {locale === 'zh-TW' ? playErrorZh(error) : error}
        </Alert>
      )}
      {recordingUrl !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: the words stand below
        <audio
          ref={audio}
          controls
          preload="metadata"
          aria-label={texts.recording}
          src={onThisHost(recordingUrl)}
          style={{ width: '100%' }}
        />
      )}
      {assertions.length > 0 && (
        <Verdicts assertions={assertions} onHear={recordingUrl === undefined ? undefined : hear} />
      )}
      {replay && <Replay turns={replay} />}
      {sessionId !== undefined && <Conversation projectId={projectId} sessionId={sessionId} />}
    </Stack>
  );
}

interface VerdictsProps {
  assertions: readonly Verdict[];
  onHear: ((atMs: number) => void) | undefined;
}

function Verdicts({ assertions, onHear }: VerdictsProps) {
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        {texts.assertions}
      </Title>
      <List size="sm" spacing={6} listStyleType="none">
        {assertions.map((verdict, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and their order is fixed
          <List.Item key={place} icon={<VerdictIcon passed={verdict.passed} />}>
            <VerdictText verdict={verdict} onHear={onHear} />
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

function VerdictIcon({ passed }: { passed: boolean }) {
  return passed ? (
    <CheckCircledIcon color="var(--mantine-color-teal-7)" role="img" aria-label={texts.passed} />
  ) : (
    <CrossCircledIcon color="var(--mantine-color-error)" role="img" aria-label={texts.failed} />
  );
}

function VerdictText({ verdict, onHear }: { verdict: Verdict; onHear: VerdictsProps['onHear'] }) {
  const { type, passed, turn, atMs, reason } = verdict;
  return (
    <Stack gap={2}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {assertionTexts[type as keyof typeof assertionTexts] ?? type}
        </Text>
        {turn !== undefined && (
          <Text size="xs" c="dimmed">
            {texts.turn(turn)}
          </Text>
        )}
        {atMs !== undefined && onHear && (
          <Button variant="default" size="compact-xs" onClick={() => onHear(atMs)}>
            {texts.hear(formatDuration(atMs))}
          </Button>
        )}
      </Group>
      {reason !== undefined && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {locale === 'zh-TW' ? verdictReasonZh(verdict) : sentence(reason)}
        </Text>
      )}
      {!passed && (
        <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {texts.seen} {seenText(verdict)}
        </Text>
      )}
    </Stack>
  );
}

function seenText({ type, seen }: Verdict): string {
  if (seen === null || seen === '' || (Array.isArray(seen) && seen.length === 0)) return texts.nothing;
  if (typeof seen !== 'string') return JSON.stringify(seen);
  if (type === 'outcome') return codeText('contactOutcome', seen);
  if (type === 'ended_by') return endedByTexts[seen as keyof typeof endedByTexts] ?? seen;
  return locale === 'zh-TW' && type === 'judge' ? votesZh(seen) : seen;
}

function Replay({ turns }: { turns: NonNullable<Play['replay']> }) {
  return (
    <DataTable
      withTableBorder
      style={{ overflowWrap: 'anywhere' }}
      headings={[texts.said, texts.before, texts.after]}
      minWidth={500}
    >
      {turns.map(({ turn, said, before, after }) => (
        <Table.Tr key={turn}>
          <Table.Td>{said}</Table.Td>
          <Table.Td>{before}</Table.Td>
          <Table.Td fw={before === after ? 400 : 600}>{after}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

/** Recordings are named by the service's public address, which can differ from this page's; media come from here alone. */
function onThisHost(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
