import { Autocomplete, Button, Modal, Stack, Switch, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { FormError } from '../../../components/FormError.tsx';
import { handleSubmit } from '../../../components/handleSubmit.ts';
import { formatDateTime } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';

const texts = textsIn({
  en: {
    open: 'Make a case of a session',
    session: 'Session',
    sessionHelp: 'What the person said and pressed is played again; tools answer as they did.',
    name: 'Name',
    nameHelp: 'Empty: the session’s id.',
    mask: 'Mask personal data',
    create: 'Create the case',
  },
  'zh-TW': {
    open: '由工作階段建立案例',
    session: '工作階段',
    sessionHelp: '重新播放使用者說的話與按鍵，工具的回應與當時相同。',
    name: '名稱',
    nameHelp: '留空則使用工作階段的識別碼。',
    mask: '遮蔽個人資料',
    create: '建立測試案例',
  },
});

/** Makes a test case of a recorded session. */
export function FromSession({ projectId }: { projectId: string }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" onClick={open}>
        {texts.open}
      </Button>
      <Modal opened={isOpen} onClose={close} title={texts.open} centered>
        <SessionForm projectId={projectId} />
      </Modal>
    </>
  );
}

function SessionForm({ projectId }: { projectId: string }) {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [sessionId, setSessionId] = useState('');
  const [name, setName] = useState('');
  const [mask, setMask] = useState(true);
  const { data: sessions = [] } = useQuery({
    queryKey: ['latest-sessions', projectId],
    queryFn: async () => {
      const params = { path: { projectId }, query: { limit: '50' } };
      return (await bodyOf(api.GET('/v1/projects/{projectId}/session-history', { params }))).results;
    },
  });
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/test-cases/from-session', {
          params: { path: { projectId } },
          body: { sessionId: sessionId.trim(), mask, ...(name.trim() !== '' && { name: name.trim() }) },
        }),
      ),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['test-cases', projectId] });
      if (!('id' in made)) return;
      await navigate({
        to: '/projects/$projectId/tests/cases/$testCaseId',
        params: { projectId, testCaseId: made.id },
      });
    },
  });
  const startOf = new Map(sessions.map((one) => [one.sessionId, one.startedAt]));
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())}>
      <Autocomplete
        label={texts.session}
        description={texts.sessionHelp}
        data={sessions.map((one) => one.sessionId)}
        renderOption={({ option }) => `${formatDateTime(startOf.get(option.value) ?? '')} · ${option.value}`}
        value={sessionId}
        onChange={setSessionId}
        required
        data-autofocus
      />
      <TextInput
        label={texts.name}
        description={texts.nameHelp}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={128}
      />
      <Switch label={texts.mask} checked={mask} onChange={(event) => setMask(event.currentTarget.checked)} />
      <FormError error={error} />
      <Button type="submit" loading={isPending} disabled={sessionId.trim() === ''}>
        {texts.create}
      </Button>
    </Stack>
  );
}
