import { Anchor, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { codeText } from '../../../codes/codeText.ts';
import { listQuery, PagedTable } from '../../../components/PagedTable.tsx';
import { Section } from '../../../components/Section.tsx';
import { formatDateTime, formatNumber } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import { documentErrorText } from '../../knowledge/knowledge.ts';
import { REFRESH_MS } from '../campaignData.ts';

/** While a file is read. */
const RUNNING_REFRESH_MS = 1_000;

const texts = textsIn({
  en: {
    title: 'Files that were read',
    at: 'Time',
    status: 'Status',
    rows: 'Rows',
    accepted: 'Added',
    skipped: 'Skipped',
    errors: 'Skipped rows (CSV)',
    errorsOf: (at: string) => `Download the skipped rows of ${at} (CSV)`,
  },
  'zh-TW': {
    title: '讀取過的檔案',
    at: '時間',
    status: '狀態',
    rows: '列數',
    accepted: '新增',
    skipped: '略過',
    errors: '略過的列（CSV）',
    errorsOf: (at: string) => `下載 ${at} 略過的列（CSV）`,
  },
});

/** The imports of a campaign, newest first, each with what was wrong in it; nothing before the first one. */
export function ImportHistory({ projectId, campaignId }: { projectId: string; campaignId: string }) {
  const api = useApi();
  const path = { projectId, campaignId };
  const pages = useInfiniteQuery({
    ...listQuery(['campaigns', projectId, campaignId, 'imports'], (query) =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/campaigns/{campaignId}/contact-imports', {
          params: { path, query },
        }),
      ),
    ),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(({ status }) => status === 'running'))
        ? RUNNING_REFRESH_MS
        : REFRESH_MS,
  });
  if (!pages.data || pages.data.items.length === 0) return null;
  return (
    <Section title={texts.title}>
      <PagedTable
        label={texts.title}
        pages={pages}
        none={null}
        minWidth={520}
        headings={[
          texts.at,
          texts.status,
          { text: texts.rows, isEnd: true },
          { text: texts.accepted, isEnd: true },
          { text: texts.skipped, isEnd: true },
          '',
        ]}
      >
        {({ id, createdAt, status, reason, rows, accepted, skipped }) => (
          <Table.Tr key={id}>
            <Table.Td>{formatDateTime(createdAt)}</Table.Td>
            <Table.Td>
              {codeText('importStatus', status)}
              {reason !== undefined && <Text size="xs">{documentErrorText(reason)}</Text>}
            </Table.Td>
            {[rows, accepted, skipped].map((count, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns stay in their places.
              <Table.Td key={place} ta="end">
                {formatNumber(count)}
              </Table.Td>
            ))}
            <Table.Td ta="end">
              {skipped > 0 && (
                <Anchor
                  href={`/v1/projects/${encodeURIComponent(projectId)}/contact-imports/${id}/errors`}
                  download="errors.csv"
                  size="sm"
                  aria-label={texts.errorsOf(formatDateTime(createdAt))}
                >
                  {texts.errors}
                </Anchor>
              )}
            </Table.Td>
          </Table.Tr>
        )}
      </PagedTable>
    </Section>
  );
}
