import { Button, Menu, Text } from '@mantine/core';
import { SpeakerLoudIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { textsIn } from '../../../texts.ts';

export type Participant = components['schemas']['Participant'];

const texts = textsIn({
  en: {
    whisper: 'Whisper',
    toAll: 'To everyone but the caller',
    toOne: (number: string) => `Only to ${number}`,
  },
  'zh-TW': {
    whisper: '耳語',
    toAll: '對來電者以外的所有人',
    toOne: (number: string) => `只對 ${number}`,
  },
});

interface WhisperButtonProps {
  readonly projectId: string;
  readonly callId: string;
  readonly disabled: boolean;
  /** @param listener - Who alone hears it. Default: all people but the caller. */
  readonly onWhisper: (listener?: Participant) => void;
}

/** Asks who hears the whisper, where participants have joined the call. */
export function WhisperButton({ projectId, callId, disabled, onWhisper }: WhisperButtonProps) {
  const api = useApi();
  const [listeners, setListeners] = useState<readonly Participant[]>([]);
  const { mutate, error } = useMutation({
    mutationFn: async () => {
      const { data } = await bodyOf(
        api.GET('/v1/projects/{projectId}/calls/{callId}/participants', {
          params: { path: { projectId, callId } },
        }),
      );
      return data.filter(({ status }) => status === 'joined');
    },
    onSuccess: (joined) => {
      if (joined.length === 0) onWhisper();
      else setListeners(joined);
    },
  });
  const isOpen = listeners.length > 0;
  return (
    <>
      <Menu opened={isOpen} onChange={(isWanted) => (isWanted ? mutate() : setListeners([]))}>
        <Menu.Target>
          <Button variant="default" size="xs" leftSection={<SpeakerLoudIcon />} disabled={disabled}>
            {texts.whisper}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => onWhisper()}>{texts.toAll}</Menu.Item>
          {listeners.map((one) => (
            <Menu.Item key={one.id} onClick={() => onWhisper(one)} style={{ overflowWrap: 'anywhere' }}>
              {texts.toOne(one.to)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {error && (
        <Text size="xs" c="error" role="status">
          {error.message}
        </Text>
      )}
    </>
  );
}
