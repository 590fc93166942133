import { Alert, Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { codeText, textWithCode } from '../../codes/codeText.ts';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { useScope } from '../../session/session.ts';
import { COLON, textsIn } from '../../texts.ts';
import { useNumbers } from './NumberSection.tsx';
import { failureText } from './sipAdvice.ts';

const POLL_MS = 1000;
const OPEN: readonly string[] = ['scheduled', 'queued', 'dialing', 'ringing', 'in_progress'];

const texts = textsIn({
  en: {
    title: 'Place a test call',
    about: 'The published agent calls, over the project’s trunks.',
    from: 'From',
    to: 'To',
    call: 'Call',
    needsNumber: 'Add a number first.',
    status: 'Status',
  },
  'zh-TW': {
    title: '撥打測試電話',
    about: '由已發布的代理經專案的中繼線撥出。',
    from: '撥出號碼',
    to: '目的號碼',
    call: '撥號',
    needsNumber: '請先新增號碼。',
    status: '狀態',
  },
});

/** Places a call, and shows what becomes of it. */
export function TestCall() {
  const api = useApi();
  const projectId = useProjectId();
  const { data: numbers } = useNumbers();
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const fromNumber = from || numbers?.data[0]?.number;
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/calls/outbound', {
          body: { projectId, fromNumber: fromNumber ?? '', toNumber: to.trim() },
        }),
      ),
  });
  if (!useScope('calls')) return null;
  return (
    <Section title={texts.title} description={texts.about}>
      {fromNumber === undefined ? (
        <Text>{texts.needsNumber}</Text>
      ) : (
        <Group component="form" align="flex-end" onSubmit={handleSubmit(() => mutate())}>
          <NativeSelect
            label={texts.from}
            data={numbers?.data.map(({ number }) => number) ?? []}
            value={fromNumber}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            label={texts.to}
            type="tel"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
            error={error?.message}
            required
          />
          <Button type="submit" loading={isPending} disabled={to.trim() === ''}>
            {texts.call}
          </Button>
        </Group>
      )}
      {data && <CallProgress callId={data.callId} />}
    </Section>
  );
}

function CallProgress({ callId }: { callId: string }) {
  const api = useApi();
  const projectId = useProjectId();
  const { data: call } = useQuery({
    queryKey: ['call', projectId, callId],
    queryFn: () =>
      bodyOf(api.GET('/v1/projects/{projectId}/calls/{callId}', { params: { path: { projectId, callId } } })),
    refetchInterval: ({ state }) =>
      state.data === undefined || OPEN.includes(state.data.status) ? POLL_MS : false,
  });
  if (!call) return null;
  return (
    <Alert
      role="status"
      title={texts.status + COLON + codeText('callStatus', call.status)}
      variant="outline"
      {...(call.status === 'failed' && { color: 'red' })}
    >
      {call.status === 'failed'
        ? failureText(call)
        : call.endReason && textWithCode('callEnd', call.endReason)}
    </Alert>
  );
}
