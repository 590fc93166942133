import { Badge, Button, Group, List, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import { trunkErrorText } from '../../codes/codeText.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { FormError } from '../../components/FormError.tsx';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { formatDateTime, formatLatency } from '../../formats.ts';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { failureText } from './sipAdvice.ts';
import { TrunkDialog } from './TrunkDialog.tsx';

const REFRESH_MS = 10_000;
const MAX_FAILURES = 5;

const texts = textsIn({
  en: {
    title: 'Trunks',
    about: 'SIP connections to carriers and PBXs.',
    none: 'No trunk yet. Without one the agent talks by chat and audio streams only.',
    add: 'Add a trunk',
    edit: 'Edit',
    remove: 'Delete',
    removeQuestion: (name: string) => `Delete the trunk ${name}?`,
    name: 'Name',
    host: 'Host',
    health: 'Health',
    channels: 'Channels',
    actions: 'Actions',
    inactive: 'Inactive',
    unknown: 'Not known yet',
    reachable: (latency: string) => `Reachable ${latency}`,
    unreachable: 'Unreachable',
    registered: 'Registered',
    unregistered: 'Not registered',
    failures: 'Recent failures',
  },
  'zh-TW': {
    title: '中繼線',
    about: '連到電信業者與總機的 SIP 連線。',
    none: '尚無中繼線。沒有中繼線時，代理只能透過聊天與音訊串流對話。',
    add: '新增中繼線',
    edit: '編輯',
    remove: '刪除',
    removeQuestion: (name: string) => `要刪除中繼線 ${name} 嗎？`,
    name: '名稱',
    host: '主機',
    health: '狀態',
    channels: '通道',
    actions: '操作',
    inactive: '停用',
    unknown: '尚不清楚',
    reachable: (latency: string) => `可連線 ${latency}`,
    unreachable: '無法連線',
    registered: '已註冊',
    unregistered: '未註冊',
    failures: '最近的失敗',
  },
});

const fetchTrunks = (api: Api, projectId: string) =>
  bodyOf(
    api.GET('/v1/projects/{projectId}/trunks', { params: { path: { projectId }, query: { limit: '100' } } }),
  );
export type Trunk = Awaited<ReturnType<typeof fetchTrunks>>['data'][number];

export function useTrunks() {
  const api = useApi();
  const projectId = useProjectId();
  return useQuery({
    queryKey: ['trunks', projectId],
    queryFn: () => fetchTrunks(api, projectId),
    refetchInterval: REFRESH_MS,
  });
}

export function TrunkSection() {
  const { data, error } = useTrunks();
  const mayWrite = useScope('write');
  const [edited, setEdited] = useState<Trunk | undefined>();
  const [isOpen, dialog] = useDisclosure();
  const open = (trunk?: Trunk) => {
    setEdited(trunk);
    dialog.open();
  };
  const add = mayWrite && <Button onClick={() => open()}>{texts.add}</Button>;
  return (
    <Section title={texts.title} description={texts.about} actions={add}>
      <FormError error={data ? null : error} />
      {data?.data.length === 0 && <Text>{texts.none}</Text>}
      {data !== undefined && data.data.length > 0 && (
        <DataTable
          headings={[texts.name, texts.host, texts.health, texts.channels, mayWrite && texts.actions]}
          minWidth={560}
        >
          {data.data.map((trunk) => (
            <Table.Tr key={trunk.id}>
              <Table.Td>{trunk.name}</Table.Td>
              <Table.Td>
                {trunk.host}:{trunk.port} {trunk.transport.toUpperCase()}
              </Table.Td>
              <Table.Td>
                <Health trunk={trunk} />
              </Table.Td>
              <Table.Td>
                {trunk.health.channelsInUse} / {trunk.maxChannels}
              </Table.Td>
              {mayWrite && (
                <Table.Td>
                  <TrunkActions trunk={trunk} onEdit={() => open(trunk)} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </DataTable>
      )}
      <RecentFailures />
      {isOpen && <TrunkDialog trunk={edited} onClose={dialog.close} />}
    </Section>
  );
}

function TrunkActions({ trunk, onEdit }: { trunk: Trunk; onEdit: () => void }) {
  const api = useApi();
  const projectId = useProjectId();
  const queries = useQueryClient();
  const remove = async () => {
    const path = { projectId, trunkId: trunk.id };
    await api.DELETE('/v1/projects/{projectId}/trunks/{trunkId}', { params: { path } });
    await queries.invalidateQueries({ queryKey: ['trunks'] });
  };
  return (
    <Group gap="xs" wrap="nowrap">
      <Button variant="default" size="xs" onClick={onEdit} aria-label={`${texts.edit} ${trunk.name}`}>
        {texts.edit}
      </Button>
      <ConfirmButton
        question={texts.removeQuestion(trunk.name)}
        action={remove}
        aria-label={`${texts.remove} ${trunk.name}`}
      >
        {texts.remove}
      </ConfirmButton>
    </Group>
  );
}

function Health({ trunk: { status, health } }: { trunk: Trunk }) {
  const { reachable, registered, lastOptionsMs, error } = health;
  if (status === 'inactive')
    return (
      <Badge miw="max-content" color="gray">
        {texts.inactive}
      </Badge>
    );
  const latency = lastOptionsMs === null ? '' : formatLatency(lastOptionsMs);
  return (
    <>
      <Group gap={6}>
        {reachable === null && (
          <Badge miw="max-content" color="gray">
            {texts.unknown}
          </Badge>
        )}
        {reachable === true && (
          <Badge miw="max-content" color="green">
            {texts.reachable(latency)}
          </Badge>
        )}
        {reachable === false && (
          <Badge miw="max-content" color="red">
            {texts.unreachable}
          </Badge>
        )}
        {registered === true && (
          <Badge miw="max-content" color="green">
            {texts.registered}
          </Badge>
        )}
        {registered === false && (
          <Badge miw="max-content" color="red">
            {texts.unregistered}
          </Badge>
        )}
      </Group>
      {error !== null && <Text size="sm">{trunkErrorText(error)}</Text>}
    </>
  );
}

/** The last calls that failed, and what that usually means. */
function RecentFailures() {
  const api = useApi();
  const projectId = useProjectId();
  const { data } = useQuery({
    queryKey: ['failedCalls', projectId],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/calls', {
          params: { path: { projectId }, query: { status: 'failed', limit: `${MAX_FAILURES}` } },
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
  if (!data || data.data.length === 0) return null;
  return (
    <>
      <Text fw={600}>{texts.failures}</Text>
      <List size="sm" spacing="xs">
        {data.data.map((call) => (
          <List.Item key={call.id}>
            {formatDateTime(call.createdAt)} · {call.toNumber} · {failureText(call)}
          </List.Item>
        ))}
      </List>
    </>
  );
}
