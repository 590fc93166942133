import {
  Alert,
  Button,
  Checkbox,
  Code,
  CopyButton,
  Group,
  NativeSelect,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { codeText, textWithCode } from '../../codes/codeText.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { formatDateTime } from '../../formats.ts';
import { useSession } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';

const SCOPES = ['read', 'write', 'calls', 'supervise', 'keys:write'] as const;

const texts = textsIn({
  en: {
    title: 'Keys',
    about: 'Each key opens this project, within its scopes.',
    name: 'Name',
    kind: 'Kind',
    kinds: { secret: 'secret', developer: 'developer' },
    scopes: 'Scopes',
    used: 'Last used',
    never: 'Never',
    actions: 'Actions',
    revoke: 'Revoke',
    revokeQuestion: (name: string) => `Revoke the key ${name}? Programs that use it are refused at once.`,
    create: 'Create a key',
    created: 'The new key',
    once: 'It is shown only now.',
    copy: 'Copy',
    copied: 'Copied',
  },
  'zh-TW': {
    title: '金鑰',
    about: '每把金鑰在其範圍內可存取此專案。',
    name: '名稱',
    kind: '種類',
    kinds: { secret: '密鑰（secret）', developer: '開發者（developer）' },
    scopes: '範圍',
    used: '最近使用',
    never: '從未',
    actions: '操作',
    revoke: '撤銷',
    revokeQuestion: (name: string) => `要撤銷金鑰 ${name} 嗎？使用它的程式會立刻被拒絕。`,
    create: '建立金鑰',
    created: '新金鑰',
    once: '只會顯示這一次。',
    copy: '複製',
    copied: '已複製',
  },
});

export function KeySection() {
  const api = useApi();
  const projectId = useProjectId();
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ['keys', projectId],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/api-keys', {
          params: { path: { projectId }, query: { limit: '100' } },
        }),
      ),
  });
  const revoke = async (keyId: string) => {
    await api.DELETE('/v1/projects/{projectId}/api-keys/{keyId}', { params: { path: { projectId, keyId } } });
    await queries.invalidateQueries({ queryKey: ['keys'] });
  };
  return (
    <Section title={texts.title} description={texts.about}>
      <CreateKey />
      <FormError error={data ? null : error} />
      <DataTable headings={[texts.name, texts.kind, texts.scopes, texts.used, texts.actions]} minWidth={520}>
        {data?.data.map(({ id, name, kind, hint, scopes, lastUsedAt }) => (
          <Table.Tr key={id}>
            <Table.Td>
              {name} <Code>{hint}</Code>
            </Table.Td>
            <Table.Td>{texts.kinds[kind]}</Table.Td>
            <Table.Td>{scopes.map((scope) => codeText('keyScope', scope)).join(', ')}</Table.Td>
            <Table.Td>{lastUsedAt === null ? texts.never : formatDateTime(lastUsedAt)}</Table.Td>
            <Table.Td>
              <ConfirmButton
                question={texts.revokeQuestion(name)}
                action={() => revoke(id)}
                aria-label={`${texts.revoke} ${name}`}
              >
                {texts.revoke}
              </ConfirmButton>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Section>
  );
}

function CreateKey() {
  const api = useApi();
  const projectId = useProjectId();
  const queries = useQueryClient();
  const own = useSession().scopes ?? [];
  const [name, setName] = useState('');
  const [kind, setKind] = useState<'secret' | 'developer'>('secret');
  const [scopes, setScopes] = useState<string[]>(['read']);
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/api-keys', {
          params: { path: { projectId } },
          body: {
            name: name.trim(),
            kind,
            ...(kind === 'developer' && { scopes: SCOPES.filter((scope) => scopes.includes(scope)) }),
          },
        }),
      ),
    onSuccess: async () => {
      setName('');
      await queries.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())}>
      <Group align="flex-end">
        <TextInput
          label={texts.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={error?.message}
          maxLength={128}
          required
        />
        <NativeSelect
          label={texts.kind}
          data={(['secret', 'developer'] as const).map((value) => ({ value, label: texts.kinds[value] }))}
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value === 'developer' ? 'developer' : 'secret')}
        />
        <Button type="submit" loading={isPending} disabled={name.trim() === ''}>
          {texts.create}
        </Button>
      </Group>
      {kind === 'developer' && (
        <Checkbox.Group label={texts.scopes} value={scopes} onChange={setScopes}>
          <Group>
            {SCOPES.map((scope) => (
              <Checkbox
                key={scope}
                value={scope}
                label={textWithCode('keyScope', scope)}
                disabled={!own.includes(scope)}
              />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      {data?.key && (
        <Alert title={texts.created} variant="outline" role="status">
          <Group>
            <Code>{data.key}</Code>
            <CopyButton value={data.key}>
              {({ copied, copy }) => (
                <Button size="xs" variant="default" onClick={copy}>
                  {copied ? texts.copied : texts.copy}
                </Button>
              )}
            </CopyButton>
            <Text size="sm">{texts.once}</Text>
          </Group>
        </Alert>
      )}
    </Stack>
  );
}
