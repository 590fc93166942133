import { Button, Text } from '@mantine/core';
import { PersonIcon, SpeakerModerateIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import processorUrl from '../../../../audio/processor.ts?worker&url';
import { type Supervision, startSupervision } from '../../../../audio/supervision.ts';
import { TalkError, type TalkProblem } from '../../../../audio/talk.ts';
import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { textsIn } from '../../../texts.ts';
import { STATES } from '../../call/colors.ts';
import { type Participant, WhisperButton } from './WhisperButton.tsx';

type Mode = 'listen' | 'whisper' | 'takeover';

interface Wish {
  readonly mode: Mode;
  /** Who alone hears a whisper. */
  readonly listener?: Participant | undefined;
}

interface Texts extends Record<Mode, string>, Record<TalkProblem, string> {
  readonly leave: string;
  readonly whisperTo: (number: string) => string;
}

const texts = textsIn<Texts>({
  en: {
    listen: 'Listen',
    whisper: 'Whisper',
    whisperTo: (number) => `Whisper to ${number}`,
    takeover: 'Take over',
    leave: 'Leave the call',
    unsupported: 'This browser cannot play the call.',
    microphone_denied: 'The microphone was not allowed.',
    microphone_missing: 'There is no microphone.',
    lost: 'The connection was lost.',
    not_allowed: 'Not allowed.',
  },
  'zh-TW': {
    listen: '旁聽',
    whisper: '耳語',
    whisperTo: (number) => `對 ${number} 耳語`,
    takeover: '接手',
    leave: '離開通話',
    unsupported: '此瀏覽器無法播放通話。',
    microphone_denied: '未允許使用麥克風。',
    microphone_missing: '找不到麥克風。',
    lost: '連線中斷。',
    not_allowed: '不允許。',
  },
});

/** Hears the call in the browser; a whisper or a takeover opens the microphone. */
export function Supervise({ projectId, callId }: { projectId: string; callId: string }) {
  const api = useApi();
  const supervision = useRef<Supervision>(undefined);
  const [active, setActive] = useState<Wish>();
  const [reason, setReason] = useState('');
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (wish: Wish) => {
      const { mode, listener } = wish;
      setReason('');
      const opened = await startSupervision({
        processorUrl,
        speaks: mode !== 'listen',
        openStream: async () => {
          const { url } = await bodyOf(
            api.POST('/v1/projects/{projectId}/calls/{callId}/supervise', {
              params: { path: { projectId, callId } },
              body: { mode, ...(listener && { participantId: listener.id }) },
            }),
          );
          if (url === null) throw new TalkError('lost');
          return url;
        },
        onEnd: (why) => {
          supervision.current = undefined;
          setActive(undefined);
          setReason(why);
        },
      });
      supervision.current = opened;
      setActive(wish);
    },
  });
  useEffect(() => () => supervision.current?.leave(), []);
  const problem = error instanceof TalkError ? texts[error.problem] : (error?.message ?? reason);
  return (
    <>
      {active ? (
        <Button size="xs" color={STATES.bad} onClick={() => supervision.current?.leave()}>
          {texts.leave} ({active.listener ? texts.whisperTo(active.listener.to) : texts[active.mode]})
        </Button>
      ) : (
        <>
          <Button
            variant="default"
            size="xs"
            leftSection={<SpeakerModerateIcon />}
            disabled={isPending}
            onClick={() => mutate({ mode: 'listen' })}
          >
            {texts.listen}
          </Button>
          <WhisperButton
            projectId={projectId}
            callId={callId}
            disabled={isPending}
            onWhisper={(listener) => mutate({ mode: 'whisper', listener })}
          />
          <Button
            variant="default"
            size="xs"
            leftSection={<PersonIcon />}
            disabled={isPending}
            onClick={() => mutate({ mode: 'takeover' })}
          >
            {texts.takeover}
          </Button>
        </>
      )}
      {problem !== '' && (
        <Text size="xs" c="error" role="status">
          {problem}
        </Text>
      )}
    </>
  );
}
