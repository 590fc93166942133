import { Button, Code, Group, NativeSelect, PasswordInput, Table, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { formatDateTime } from '../../formats.ts';
import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    title: 'Providers',
    about:
      'The project’s own keys for speech and chat, in place of the installation’s. They are stored encrypted and never shown.',
    provider: 'Provider',
    key: 'Key',
    url: 'Base URL',
    urlHelp: 'Only for an address of your own.',
    save: 'Save the key',
    none: 'No key of the project’s own.',
    updated: 'Changed',
    actions: 'Actions',
    remove: 'Delete',
    removeQuestion: (name: string) => `Delete the key for ${name}?`,
  },
  'zh-TW': {
    title: '供應商',
    about: '專案自己的語音與聊天金鑰，取代整個安裝的金鑰。加密保存，不會再顯示。',
    provider: '供應商',
    key: '金鑰',
    url: '基底網址',
    urlHelp: '只在使用自己的位址時需要。',
    save: '儲存金鑰',
    none: '沒有專案自己的金鑰。',
    updated: '變更時間',
    actions: '操作',
    remove: '刪除',
    removeQuestion: (name: string) => `要刪除 ${name} 的金鑰嗎？`,
  },
});

const fetchProviders = (api: Api, projectId: string) =>
  bodyOf(
    api.GET('/v1/projects/{projectId}/providers', {
      params: { path: { projectId }, query: { limit: '100' } },
    }),
  );
type Name = Awaited<ReturnType<typeof fetchProviders>>['data'][number]['name'];
/** All that the API takes a key for. */
const NAMES: Readonly<Record<Name, true>> = {
  openai: true,
  anthropic: true,
  google: true,
  deepgram: true,
  assemblyai: true,
  soniox: true,
  elevenlabs: true,
  cartesia: true,
  custom_stt: true,
  custom_tts: true,
  custom_s2s: true,
  twilio: true,
};

export function ProviderSection() {
  const api = useApi();
  const projectId = useProjectId();
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ['providers', projectId],
    queryFn: () => fetchProviders(api, projectId),
  });
  const remove = async (name: Name) => {
    await api.DELETE('/v1/projects/{projectId}/providers/{name}', { params: { path: { projectId, name } } });
    await queries.invalidateQueries({ queryKey: ['providers'] });
  };
  return (
    <Section title={texts.title} description={texts.about}>
      <SaveProvider />
      <FormError error={data ? null : error} />
      {data?.data.length === 0 && <Text>{texts.none}</Text>}
      {data !== undefined && data.data.length > 0 && (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.provider}</Table.Th>
              <Table.Th>{texts.updated}</Table.Th>
              <Table.Th>{texts.actions}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.data.map(({ name, hint, baseUrl, updatedAt }) => (
              <Table.Tr key={name}>
                <Table.Td>
                  {name} <Code>{hint}</Code> {baseUrl}
                </Table.Td>
                <Table.Td>{formatDateTime(updatedAt)}</Table.Td>
                <Table.Td>
                  <ConfirmButton
                    question={texts.removeQuestion(name)}
                    action={() => remove(name)}
                    aria-label={`${texts.remove} ${name}`}
                  >
                    {texts.remove}
                  </ConfirmButton>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  );
}

function SaveProvider() {
  const api = useApi();
  const projectId = useProjectId();
  const queries = useQueryClient();
  const [name, setName] = useState<Name>('openai');
  const [apiKey, setApiKey] = useState('');
  const [baseUrl, setBaseUrl] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PUT('/v1/projects/{projectId}/providers/{name}', {
          params: { path: { projectId, name } },
          body: { apiKey: apiKey.trim(), ...(baseUrl.trim() !== '' && { baseUrl: baseUrl.trim() }) },
        }),
      ),
    onSuccess: async () => {
      setApiKey('');
      setBaseUrl('');
      await queries.invalidateQueries({ queryKey: ['providers'] });
    },
  });
  return (
    <Group component="form" align="flex-end" onSubmit={handleSubmit(() => mutate())}>
      <NativeSelect
        label={texts.provider}
        data={Object.keys(NAMES)}
        value={name}
        onChange={(event) => setName(event.currentTarget.value as Name)}
      />
      <PasswordInput
        label={texts.key}
        value={apiKey}
        onChange={(event) => setApiKey(event.currentTarget.value)}
        error={error?.message}
        autoComplete="off"
        miw={220}
        required
      />
      <TextInput
        label={texts.url}
        description={texts.urlHelp}
        value={baseUrl}
        onChange={(event) => setBaseUrl(event.currentTarget.value)}
      />
      <Button type="submit" loading={isPending} disabled={apiKey.trim() === ''}>
        {texts.save}
      </Button>
    </Group>
  );
}
