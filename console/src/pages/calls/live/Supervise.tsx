import { Button, Text } from '@mantine/core';
import { PersonIcon, SpeakerLoudIcon, SpeakerModerateIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import processorUrl from '../../../../audio/processor.ts?worker&url';
import { type Supervision, startSupervision } from '../../../../audio/supervision.ts';
import { TalkError, type TalkProblem } from '../../../../audio/talk.ts';
import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { textsIn } from '../../../texts.ts';
import { STATES } from '../../call/colors.ts';

const MODES = [
  { mode: 'listen', icon: <SpeakerModerateIcon /> },
  { mode: 'whisper', icon: <SpeakerLoudIcon /> },
  { mode: 'takeover', icon: <PersonIcon /> },
] as const;
type Mode = (typeof MODES)[number]['mode'];

const texts = textsIn<Record<Mode, string> & Record<TalkProblem, string> & { leave: string }>({
  en: {
    listen: 'Listen',
    whisper: 'Whisper',
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
  const [mode, setMode] = useState<Mode>();
  const [reason, setReason] = useState('');
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (wanted: Mode) => {
      setReason('');
      const opened = await startSupervision({
        processorUrl,
        speaks: wanted !== 'listen',
        openStream: async () => {
          const { url } = await bodyOf(
            api.POST('/v1/projects/{projectId}/calls/{callId}/supervise', {
              params: { path: { projectId, callId } },
              body: { mode: wanted },
            }),
          );
          if (url === null) throw new TalkError('lost');
          return url;
        },
        onEnd: (why) => {
          supervision.current = undefined;
          setMode(undefined);
          setReason(why);
        },
      });
      supervision.current = opened;
      setMode(wanted);
    },
  });
  useEffect(() => () => supervision.current?.leave(), []);
  const problem = error instanceof TalkError ? texts[error.problem] : (error?.message ?? reason);
  return (
    <>
      {mode === undefined ? (
        MODES.map((one) => (
          <Button
            key={one.mode}
            variant="default"
            size="xs"
            leftSection={one.icon}
            disabled={isPending}
            onClick={() => mutate(one.mode)}
          >
            {texts[one.mode]}
          </Button>
        ))
      ) : (
        <Button size="xs" color={STATES.bad} onClick={() => supervision.current?.leave()}>
          {texts.leave} ({texts[mode]})
        </Button>
      )}
      {problem !== '' && (
        <Text size="xs" c="error" role="status">
          {problem}
        </Text>
      )}
    </>
  );
}
