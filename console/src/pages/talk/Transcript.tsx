import { Badge, Box, Group, Paper, ScrollArea, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useEffect, useRef } from 'react';

import { withoutBidiControls } from '../../api/bidiControls.ts';
import { textsIn } from '../../texts.ts';
import type { Line } from './talkState.ts';

const texts = textsIn({
  en: {
    conversation: 'Conversation',
    empty: 'Call the agent, or write to it.',
    caller: 'You',
    agent: 'Agent',
    interrupted: 'interrupted',
    spoken: 'spoken',
  },
  'zh-TW': {
    conversation: '對話',
    empty: '打電話給代理，或傳訊息給它。',
    caller: '您',
    agent: '代理',
    interrupted: '被打斷',
    spoken: '語音',
  },
});

/** What both sides said, as it comes. */
export function Transcript({ lines }: { lines: readonly Line[] }) {
  const viewport = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new words are scrolled to.
  useEffect(() => {
    const { current } = viewport;
    if (current) current.scrollTop = current.scrollHeight;
  }, [lines]);
  return (
    <ScrollArea
      h={{ base: 320, md: 420 }}
      viewportRef={viewport}
      viewportProps={{ tabIndex: 0, role: 'log', 'aria-label': texts.conversation }}
    >
      <Stack gap="xs" p="xs">
        {lines.length === 0 && <Text c="dimmed">{texts.empty}</Text>}
        {lines.map((line) => (
          <TranscriptLine key={line.id} line={line} />
        ))}
      </Stack>
    </ScrollArea>
  );
}

function TranscriptLine({ line: { speaker, text, isFinal, isChat, isInterrupted } }: { line: Line }) {
  const isAgent = speaker === 'agent';
  return (
    <Box maw="85%" style={{ alignSelf: isAgent ? 'flex-start' : 'flex-end' }}>
      <Paper
        px="sm"
        py={6}
        radius="lg"
        bg={isAgent ? 'var(--mantine-color-default-hover)' : 'var(--mantine-primary-color-light)'}
      >
        <VisuallyHidden>{isAgent ? texts.agent : texts.caller}: </VisuallyHidden>
        <Text
          span
          fs={isFinal ? undefined : 'italic'}
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {text === '' ? '…' : withoutBidiControls(text)}
        </Text>
      </Paper>
      {(isInterrupted || !isChat) && (
        <Group gap={6} px="sm" justify={isAgent ? 'flex-start' : 'flex-end'}>
          {!isChat && (
            <Text size="xs" c="dimmed">
              {texts.spoken}
            </Text>
          )}
          {isInterrupted && (
            <Badge size="xs" color="orange" variant="outline" autoContrast>
              {texts.interrupted}
            </Badge>
          )}
        </Group>
      )}
    </Box>
  );
}
