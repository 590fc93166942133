import { Button, Group, Paper, Stack, TextInput } from '@mantine/core';
import { ExitIcon, PauseIcon, PlayIcon } from '@radix-ui/react-icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import type { components } from '../../../api/schema.d.ts';
import { FormError } from '../../../components/FormError.tsx';
import { useScope } from '../../../session/session.ts';
import { textsIn } from '../../../texts.ts';
import { STATES } from '../../call/colors.ts';
import { Supervise } from './Supervise.tsx';

type Call = components['schemas']['Call'];

const texts = textsIn({
  en: {
    hangUp: 'Hang up',
    confirm: 'Hang up now?',
    pause: 'Pause the agent',
    resume: 'Resume the agent',
    transferTo: 'Transfer to',
    transfer: 'Transfer',
    target: '+886223456789',
    say: 'Say',
    sayLabel: 'Words that the agent says',
    instruct: 'Instruct',
    instructLabel: 'Instruction to the agent',
    done: 'Done',
    controls: 'Control of the call',
  },
  'zh-TW': {
    hangUp: '掛斷',
    confirm: '確定掛斷？',
    pause: '暫停語音代理',
    resume: '恢復語音代理',
    transferTo: '轉接至',
    transfer: '轉接',
    target: '+886223456789',
    say: '說出',
    sayLabel: '語音代理要說的話',
    instruct: '指示',
    instructLabel: '給語音代理的指示',
    done: '完成',
    controls: '通話控制',
  },
});

/** What a person does with a call in progress. */
export function LiveControls({ projectId, call }: { projectId: string; call: Call }) {
  const canCall = useScope('calls');
  const canSupervise = useScope('supervise');
  const { act, error, isPending } = useActions(projectId, call.id);
  const { agentPaused } = call;
  if (!canCall && !canSupervise) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-label={texts.controls}>
      <Stack gap="sm">
        <Group gap="xs">
          {canSupervise && <Supervise projectId={projectId} callId={call.id} />}
          {canSupervise && (
            <Button
              variant="default"
              size="xs"
              leftSection={agentPaused ? <PlayIcon /> : <PauseIcon />}
              disabled={isPending}
              onClick={() => act({ kind: agentPaused ? 'resume-agent' : 'pause-agent' })}
            >
              {agentPaused ? texts.resume : texts.pause}
            </Button>
          )}
          {canCall && <HangUp onConfirm={() => act({ kind: 'hangup' })} />}
        </Group>
        <Group gap="sm" align="flex-end">
          {canSupervise && (
            <>
              <Line label={texts.sayLabel} action={texts.say} onSend={(text) => act({ kind: 'say', text })} />
              <Line
                label={texts.instructLabel}
                action={texts.instruct}
                onSend={(text) => act({ kind: 'instruct', text })}
              />
            </>
          )}
          {canCall && (
            <Line
              label={texts.transferTo}
              action={texts.transfer}
              placeholder={texts.target}
              onSend={(to) => act({ kind: 'transfer', to })}
            />
          )}
        </Group>
        <FormError error={error} />
      </Stack>
    </Paper>
  );
}

type Action =
  | { readonly kind: 'hangup' | 'pause-agent' | 'resume-agent' }
  | { readonly kind: 'say' | 'instruct'; readonly text: string }
  | { readonly kind: 'transfer'; readonly to: string };

function useActions(projectId: string, callId: string) {
  const api = useApi();
  const queries = useQueryClient();
  const params = { params: { path: { projectId, callId } } };
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (action: Action) => {
      switch (action.kind) {
        case 'hangup':
          return await api.POST('/v1/projects/{projectId}/calls/{callId}/hangup', params);
        case 'pause-agent':
          return await api.POST('/v1/projects/{projectId}/calls/{callId}/pause-agent', params);
        case 'resume-agent':
          return await api.POST('/v1/projects/{projectId}/calls/{callId}/resume-agent', params);
        case 'say':
          return await api.POST('/v1/projects/{projectId}/calls/{callId}/say', {
            ...params,
            body: { text: action.text },
          });
        case 'instruct':
          return await api.POST('/v1/projects/{projectId}/calls/{callId}/instruct', {
            ...params,
            body: { text: action.text },
          });
        case 'transfer':
          return await api.POST('/v1/projects/{projectId}/calls/{callId}/transfer', {
            ...params,
            body: { to: action.to },
          });
      }
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['call', projectId] });
      await queries.invalidateQueries({ queryKey: ['calls', projectId] });
    },
  });
  return { act: mutate, error, isPending };
}

function HangUp({ onConfirm }: { onConfirm: () => void }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <Button
      size="xs"
      {...(isAsked ? { color: STATES.bad } : { c: 'error' })}
      variant={isAsked ? 'filled' : 'default'}
      leftSection={<ExitIcon />}
      onBlur={() => setAsked(false)}
      onClick={() => {
        if (isAsked) onConfirm();
        setAsked(!isAsked);
      }}
    >
      {isAsked ? texts.confirm : texts.hangUp}
    </Button>
  );
}

function Line({
  label,
  action,
  placeholder,
  onSend,
}: {
  label: string;
  action: string;
  placeholder?: string;
  onSend: (text: string) => void;
}) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend(text.trim());
    setText('');
  };
  return (
    <Group gap={4} wrap="nowrap" align="flex-end" component="form" onSubmit={submit} flex="1 1 240px">
      <TextInput
        flex={1}
        size="xs"
        label={label}
        value={text}
        maxLength={2000}
        {...(placeholder ? { placeholder } : {})}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" size="xs" variant="default" disabled={text.trim() === ''}>
        {action}
      </Button>
    </Group>
  );
}
