import { Badge, Group, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { PagedTable } from '../../components/PagedTable.tsx';
import { formatDateTime } from '../../formats.ts';
import { ButtonLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { type Release, releasesQuery, useRefreshAgent } from './releaseData.ts';

const texts = textsIn({
  en: {
    releases: 'Releases',
    release: 'Release',
    created: 'Created',
    by: 'By',
    note: 'What is new',
    live: 'live',
    operator: 'operator',
    edit: 'An edit while published',
    compare: 'Compare',
    compareOf: (release: number) => `Compare release ${release} with the one before`,
    restore: 'Restore',
    restoreOf: (release: number) => `Restore release ${release}`,
    question: (release: number) =>
      `Make release ${release} what is edited again? What was saved since stays in its own releases and versions.`,
    none: 'No release yet: callers get what is saved on the agent’s page. Publish, and from then on edits are a draft that callers do not meet until the next publication.',
  },
  'zh-TW': {
    releases: '版本清單',
    release: '版本',
    created: '建立時間',
    by: '建立者',
    note: '更新內容',
    live: '線上',
    operator: '管理者',
    edit: '發布期間的編輯',
    compare: '比較',
    compareOf: (release: number) => `比較版本 ${release} 與前一個版本`,
    restore: '還原',
    restoreOf: (release: number) => `還原版本 ${release}`,
    question: (release: number) =>
      `要把版本 ${release} 還原為編輯中的內容嗎？之後儲存的內容仍保留在各自的版本中。`,
    none: '尚無版本：來電者使用代理頁面儲存的內容。發布之後，編輯都是草稿，下次發布前來電者不會遇到。',
  },
});

/** Newest first. */
export function ReleaseList({ projectId, mayWrite }: { projectId: string; mayWrite: boolean }) {
  const api = useApi();
  const pages = useInfiniteQuery(releasesQuery(api, projectId));
  return (
    <PagedTable
      label={texts.releases}
      pages={pages}
      none={texts.none}
      minWidth={560}
      headings={[texts.release, texts.note, texts.created, texts.by, '']}
    >
      {(release) => <Row key={release.release} {...{ projectId, release, mayWrite }} />}
    </PagedTable>
  );
}

function Row({
  projectId,
  release: { release, note, createdAt, createdBy, isLive },
  mayWrite,
}: {
  projectId: string;
  release: Release;
  mayWrite: boolean;
}) {
  const api = useApi();
  const refresh = useRefreshAgent(projectId);
  const restore = async () => {
    const path = { projectId, release: String(release) };
    await api.POST('/v1/projects/{projectId}/releases/{release}/restore', { params: { path } });
    await refresh();
  };
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          {release}
          {isLive && <Badge color="green">{texts.live}</Badge>}
        </Group>
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }} miw={140}>
        {note ?? (
          <Text size="sm" c="dimmed">
            {texts.edit}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{formatDateTime(createdAt)}</Table.Td>
      <Table.Td>{createdBy.hint ?? texts.operator}</Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          {release > 1 && (
            <ButtonLink
              to="/projects/$projectId/releases"
              params={{ projectId }}
              search={{ release }}
              resetScroll
              variant="default"
              size="xs"
              aria-label={texts.compareOf(release)}
            >
              {texts.compare}
            </ButtonLink>
          )}
          {mayWrite && (
            <ConfirmButton
              question={texts.question(release)}
              action={restore}
              aria-label={texts.restoreOf(release)}
            >
              {texts.restore}
            </ConfirmButton>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
