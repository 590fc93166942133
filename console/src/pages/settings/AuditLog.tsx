import { Code, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { codeText } from '../../codes/codeText.ts';
import { listQuery, PagedTable } from '../../components/PagedTable.tsx';
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
  },
  'zh-TW': {
    title: '稽核紀錄',
    about: '誰改了什麼。',
    at: '時間',
    actor: '誰',
    action: '動作',
    details: '細節',
    none: '尚無變更。',
  },
});

export function AuditLog() {
  const api = useApi();
  const projectId = useProjectId();
  const pages = useInfiniteQuery(
    listQuery(['audit', projectId], (page) =>
      bodyOf(api.GET('/v1/projects/{projectId}/audit-log', { params: { path: { projectId }, query: page } })),
    ),
  );
  return (
    <Section title={texts.title} description={texts.about}>
      <PagedTable
        label={texts.title}
        pages={pages}
        none={texts.none}
        minWidth={900}
        verticalSpacing="xs"
        headings={[texts.at, texts.actor, texts.action, texts.details]}
      >
        {({ id, at, actor, action, target, details }) => (
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
            <Table.Td>{Object.keys(details).length > 0 && <Code>{JSON.stringify(details)}</Code>}</Table.Td>
          </Table.Tr>
        )}
      </PagedTable>
    </Section>
  );
}
