import { ActionIcon, Box, Button, Group, Popover, SimpleGrid, Text } from '@mantine/core';
import { GridIcon } from '@radix-ui/react-icons';
import { type Ref, useEffect, useState } from 'react';

import { formatDuration } from '../../formats.ts';
import { textsIn } from '../../texts.ts';
import type { TalkState } from './talkState.ts';
import type { TalkActions } from './useTalk.ts';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'] as const;

const texts = textsIn({
  en: {
    call: 'Call the agent',
    connecting: 'Connecting…',
    hangUp: 'Hang up',
    mute: 'Mute',
    keypad: 'Keypad',
    pressed: 'Keys pressed',
    you: 'You',
    agent: 'Agent',
  },
  'zh-TW': {
    call: '打電話給代理',
    connecting: '連線中…',
    hangUp: '掛斷',
    mute: '靜音',
    keypad: '撥號鍵盤',
    pressed: '已按的按鍵',
    you: '您',
    agent: '代理',
  },
});

interface CallBarProps {
  readonly state: TalkState;
  readonly actions: TalkActions;
  /** Their widths are the levels of both sides. */
  readonly callerLevel: Ref<HTMLDivElement>;
  readonly agentLevel: Ref<HTMLDivElement>;
}

/** Begins, steers and ends the call. */
export function CallBar({ state: { call, digits }, actions, callerLevel, agentLevel }: CallBarProps) {
  if (call !== 'connected')
    return (
      <Button
        onClick={() => void actions.call()}
        loading={call === 'connecting'}
        loaderProps={{ type: 'dots' }}
      >
        {call === 'connecting' ? texts.connecting : texts.call}
      </Button>
    );
  return (
    <Group gap="sm">
      <Button color="red" variant="filled" onClick={actions.hangUp}>
        {texts.hangUp}
      </Button>
      <MuteButton actions={actions} />
      <Keypad digits={digits} actions={actions} />
      <Timer />
      <Group gap="sm" wrap="nowrap">
        <Level label={texts.you} level={callerLevel} />
        <Level label={texts.agent} level={agentLevel} />
      </Group>
    </Group>
  );
}

function MuteButton({ actions }: Pick<CallBarProps, 'actions'>) {
  const [isMuted, setMuted] = useState(false);
  const toggle = () => {
    actions.mute(!isMuted);
    setMuted(!isMuted);
  };
  return (
    <Button variant={isMuted ? 'filled' : 'default'} onClick={toggle} aria-pressed={isMuted}>
      {texts.mute}
    </Button>
  );
}

function Keypad({ digits, actions }: { digits: string; actions: TalkActions }) {
  return (
    <Popover trapFocus withArrow>
      <Popover.Target>
        <ActionIcon size={36} variant="default" aria-label={texts.keypad}>
          <GridIcon />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={texts.keypad}>
        <SimpleGrid cols={3} spacing="xs">
          {KEYS.map((key) => (
            <Button key={key} variant="default" onClick={() => actions.press(key)}>
              {key}
            </Button>
          ))}
        </SimpleGrid>
        <Text size="sm" mt="xs" aria-live="polite">
          {texts.pressed}: {digits}
        </Text>
      </Popover.Dropdown>
    </Popover>
  );
}

function Timer() {
  const [startedAt] = useState(() => Date.now());
  const [now, setNow] = useState(startedAt);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <Text style={{ fontVariantNumeric: 'tabular-nums' }}>{formatDuration(now - startedAt)}</Text>;
}

function Level({ label, level }: { label: string; level: Ref<HTMLDivElement> }) {
  return (
    <Group gap={6} wrap="nowrap" aria-hidden>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Box
        w={56}
        h={8}
        bg="var(--mantine-color-default-border)"
        style={{ borderRadius: 4, overflow: 'hidden' }}
      >
        <Box
          ref={level}
          h="100%"
          bg="var(--mantine-primary-color-filled)"
          style={{ transform: 'scaleX(0)', transformOrigin: 'left', transition: 'transform 80ms linear' }}
        />
      </Box>
    </Group>
  );
}
