import { Badge, Button, Group, Switch, Table, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    title: 'Numbers',
    about: 'The numbers that the agent answers, and calls from.',
    number: 'Number',
    format: 'With country code: +886223456789',
    add: 'Add the number',
    none: 'No number yet.',
    inbound: 'Answers calls',
    outbound: 'Places calls',
    ownership: 'Ownership',
    verified: 'Verified',
    unverified: 'Waits for the operator',
    actions: 'Actions',
    remove: 'Delete',
    removeQuestion: (number: string) => `Delete the number ${number}?`,
  },
  'zh-TW': {
    title: '號碼',
    about: '代理接聽與撥出所用的號碼。',
    number: '號碼',
    format: '含國碼：+886223456789',
    add: '新增號碼',
    none: '尚無號碼。',
    inbound: '接聽來電',
    outbound: '撥出電話',
    ownership: '所有權',
    verified: '已驗證',
    unverified: '等待管理者確認',
    actions: '操作',
    remove: '刪除',
    removeQuestion: (number: string) => `要刪除號碼 ${number} 嗎？`,
  },
});

const fetchNumbers = (api: Api, projectId: string) =>
  bodyOf(
    api.GET('/v1/projects/{projectId}/phone-numbers', {
      params: { path: { projectId }, query: { limit: '100' } },
    }),
  );
type PhoneNumber = Awaited<ReturnType<typeof fetchNumbers>>['data'][number];

export function useNumbers() {
  const api = useApi();
  const projectId = useProjectId();
  return useQuery({ queryKey: ['numbers', projectId], queryFn: () => fetchNumbers(api, projectId) });
}

export function NumberSection() {
  const { data, error } = useNumbers();
  const mayWrite = useScope('write');
  return (
    <Section title={texts.title} description={texts.about}>
      {mayWrite && <AddNumber />}
      <FormError error={data ? null : error} />
      {data?.data.length === 0 && <Text>{texts.none}</Text>}
      {data !== undefined && data.data.length > 0 && (
        <DataTable
          headings={[texts.number, texts.inbound, texts.outbound, texts.ownership, mayWrite && texts.actions]}
          minWidth={520}
        >
          {data.data.map((number) => (
            <NumberRow key={number.id} number={number} mayWrite={mayWrite} />
          ))}
        </DataTable>
      )}
    </Section>
  );
}

function NumberRow({ number, mayWrite }: { number: PhoneNumber; mayWrite: boolean }) {
  const api = useApi();
  const projectId = useProjectId();
  const queries = useQueryClient();
  const path = { projectId, phoneNumberId: number.id };
  const refresh = () => queries.invalidateQueries({ queryKey: ['numbers'] });
  const { mutate } = useMutation({
    mutationFn: async (body: Partial<Pick<PhoneNumber, 'inboundEnabled' | 'outboundStatus'>>) => {
      await api.PATCH('/v1/projects/{projectId}/phone-numbers/{phoneNumberId}', { params: { path }, body });
    },
    onSettled: refresh,
  });
  const remove = async () => {
    await api.DELETE('/v1/projects/{projectId}/phone-numbers/{phoneNumberId}', { params: { path } });
    await refresh();
  };
  return (
    <Table.Tr>
      <Table.Td>{number.number}</Table.Td>
      <Table.Td>
        <Switch
          aria-label={`${texts.inbound} ${number.number}`}
          checked={number.inboundEnabled}
          disabled={!mayWrite}
          onChange={(event) => mutate({ inboundEnabled: event.currentTarget.checked })}
        />
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={`${texts.outbound} ${number.number}`}
          checked={number.outboundStatus === 'active'}
          disabled={!mayWrite}
          onChange={(event) =>
            mutate({ outboundStatus: event.currentTarget.checked ? 'active' : 'inactive' })
          }
        />
      </Table.Td>
      <Table.Td>
        <Badge color={number.verified ? 'green' : 'orange'}>
          {number.verified ? texts.verified : texts.unverified}
        </Badge>
      </Table.Td>
      {mayWrite && (
        <Table.Td>
          <ConfirmButton
            question={texts.removeQuestion(number.number)}
            action={remove}
            aria-label={`${texts.remove} ${number.number}`}
          >
            {texts.remove}
          </ConfirmButton>
        </Table.Td>
      )}
    </Table.Tr>
  );
}

function AddNumber() {
  const api = useApi();
  const projectId = useProjectId();
  const queries = useQueryClient();
  const [number, setNumber] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/phone-numbers', {
          params: { path: { projectId } },
          body: { number: number.trim() },
        }),
      ),
    onSuccess: async () => {
      setNumber('');
      await queries.invalidateQueries({ queryKey: ['numbers'] });
    },
  });
  return (
    <Group component="form" align="flex-end" onSubmit={handleSubmit(() => mutate())}>
      <TextInput
        label={texts.number}
        description={texts.format}
        type="tel"
        value={number}
        onChange={(event) => setNumber(event.currentTarget.value)}
        error={error?.message}
        required
      />
      <Button type="submit" loading={isPending} disabled={number.trim() === ''}>
        {texts.add}
      </Button>
    </Group>
  );
}
