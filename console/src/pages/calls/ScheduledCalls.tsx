import { Button, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { FormError } from '../../components/FormError.tsx';
import { formatDateTime } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';

const SHOWN = 50;
/** No event tells that a call was scheduled. */
const REFRESH_MS = 15_000;

const texts = textsIn({
  en: {
    title: 'Scheduled',
    call: 'Call',
    due: 'Due',
    cancel: 'Cancel',
    cancelCall: (toNumber: string) => `Cancel the call to ${toNumber}`,
    more: (count: number) => `and ${count} more`,
  },
  'zh-TW': {
    title: '已排程',
    call: '通話',
    due: '預定時間',
    cancel: '取消',
    cancelCall: (toNumber: string) => `取消撥給 ${toNumber} 的通話`,
    more: (count: number) => `還有 ${count} 通`,
  },
});

/** The calls that are placed later; nothing where there are none. */
export function ScheduledCalls({ projectId }: { projectId: string }) {
  const api = useApi();
  const queries = useQueryClient();
  const mayCancel = useScope('calls');
  const { data } = useQuery({
    queryKey: ['calls', projectId, 'scheduled'],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/calls', {
          params: { path: { projectId }, query: { status: 'scheduled', limit: `${SHOWN}` } },
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
  const cancel = useMutation({
    mutationFn: (callId: string) =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/calls/{callId}/hangup', {
          params: { path: { projectId, callId } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['calls', projectId] }),
  });
  if (!data || data.data.length === 0) return null;
  const dueAt = ({ notBefore, createdAt }: (typeof data.data)[number]) => notBefore ?? createdAt;
  const calls = data.data.toSorted((one, other) => dueAt(one).localeCompare(dueAt(other)));
  return (
    <Stack gap="xs" component="section" aria-label={texts.title}>
      <Title order={2} size="h4">
        {texts.title}
      </Title>
      <FormError error={cancel.error} />
      <DataTable headings={[texts.call, texts.due, '']} minWidth={340}>
        {calls.map((call) => (
          <Table.Tr key={call.id}>
            <Table.Td>
              <PageLink to="/projects/$projectId/calls/$callId" params={{ projectId, callId: call.id }}>
                {call.fromNumber} → {call.toNumber}
              </PageLink>
            </Table.Td>
            <Table.Td>{formatDateTime(dueAt(call))}</Table.Td>
            <Table.Td ta="end">
              {mayCancel && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={texts.cancelCall(call.toNumber)}
                  loading={cancel.isPending && cancel.variables === call.id}
                  onClick={() => cancel.mutate(call.id)}
                >
                  {texts.cancel}
                </Button>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {data.pagination.total > calls.length && (
        <Text c="dimmed">{texts.more(data.pagination.total - calls.length)}</Text>
      )}
    </Stack>
  );
}
