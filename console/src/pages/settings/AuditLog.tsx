import { Button, Code, Group, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { codeText } from '../../codes/codeText.ts';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { formatDateTime } from '../../formats.ts';
import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    title: 'Audit log',
    about: 'Who changed what.',
    at: 'When',
    actor: 'Who',
    action: 'What',
    details: 'Details',
    none: 'Nothing was changed yet.',
    more: 'Show older entries',
  },
  'zh-TW': {
    title: '稽核紀錄',
    about: '誰改了什麼。',
    at: '時間',
    actor: '誰',
    action: '動作',
    details: '細節',
    none: '尚無變更。',
    more: '顯示較舊的紀錄',
  },
});

export function AuditLog() {
  const api = useApi();
  const projectId = useProjectId();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['audit', projectId],
    queryFn: ({ pageParam }) =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/audit-log', {
          params: {
            path: { projectId },
            query: { limit: '50', ...(pageParam !== '' && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
  });
  const entries = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Section title={texts.title} description={texts.about}>
      {error && !data && <Text c="red">{error.message}</Text>}
      {data !== undefined && entries.length === 0 && <Text>{texts.none}</Text>}
      {entries.length > 0 && (
        <Table.ScrollContainer minWidth={900}>
          <Table verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{texts.at}</Table.Th>
                <Table.Th>{texts.actor}</Table.Th>
                <Table.Th>{texts.action}</Table.Th>
                <Table.Th>{texts.details}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {entries.map(({ id, at, actor, action, target, details }) => (
                <Table.Tr key={id}>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatDateTime(at)}</Table.Td>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>
                    {codeText('auditActor', actor.kind)}
                    {actor.hint !== undefined && (
                      <Text size="xs" c="dimmed">
                        {actor.hint}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>
                    {codeText('auditAction', action)}
                    <Text size="xs" c="dimmed">
                      {action}
                      <br />
                      {target}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    {Object.keys(details).length > 0 && <Code>{JSON.stringify(details)}</Code>}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {hasNextPage && (
        <Group>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {texts.more}
          </Button>
        </Group>
      )}
    </Section>
  );
}
