import { Anchor, Loader, Stack, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { codeText } from '../../../codes/codeText.ts';
import { DataTable } from '../../../components/DataTable.tsx';
import { formatNumber } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { locale, textsIn } from '../../../texts.ts';
import { documentErrorText } from '../../knowledge/knowledge.ts';
import { countBy, countsText } from '../counts.ts';
import type { ImportTarget } from './ImportList.tsx';

const REFRESH_MS = 1_000;
const SHOWN_ERRORS = 20;

const texts = textsIn({
  en: {
    title: 'Import',
    running: 'The file is being read',
    done: 'The file is read',
    failed: 'The file could not be read further. What was added stays.',
    figures: (rows: string, accepted: string, skipped: string) =>
      `${rows} rows: ${accepted} added, ${skipped} skipped`,
    first: (count: string) => `Of the first ${count}: `,
    row: 'Row',
    reason: 'Why it was skipped',
    all: 'Download all skipped rows (CSV)',
  },
  'zh-TW': {
    title: '匯入',
    running: '正在讀取檔案',
    done: '檔案已讀取完成',
    failed: '檔案無法繼續讀取；已加入的會保留。',
    figures: (rows: string, accepted: string, skipped: string) =>
      `${rows} 列：新增 ${accepted} 筆，略過 ${skipped} 列`,
    first: (count: string) => `前 ${count} 列：`,
    row: '列',
    reason: '略過的原因',
    all: '下載所有略過的列（CSV）',
  },
});

/** The focus was on the form, which has gone. */
const takeFocus = (shown: HTMLElement | null) => shown?.focus();

/** Follows an import, and shows which rows were skipped. */
export function ImportProgress({ target, importId }: { target: ImportTarget; importId: string }) {
  const api = useApi();
  const queries = useQueryClient();
  const { projectId, queryKey } = target;
  const { data, error } = useQuery({
    queryKey: ['contact-imports', projectId, importId],
    queryFn: () =>
      projectId === undefined
        ? bodyOf(api.GET('/v1/contact-imports/{importId}', { params: { path: { importId } } }))
        : bodyOf(
            api.GET('/v1/projects/{projectId}/contact-imports/{importId}', {
              params: { path: { projectId, importId } },
            }),
          ),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? REFRESH_MS : false),
  });
  const rows = data?.rows;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was read so far has changed the list.
  useEffect(() => {
    void queries.invalidateQueries({ queryKey });
  }, [queries, rows, data?.status]);
  if (!data) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.title} />;
  const { status, reason, accepted, skipped, errors } = data;
  const owner = projectId === undefined ? '/v1' : `/v1/projects/${encodeURIComponent(projectId)}`;
  const reasons = countsText(countBy(errors, ({ code }) => codeText('skipReason', code)));
  const figures = [data.rows, accepted, skipped].map(formatNumber) as [string, string, string];
  return (
    <Stack gap="xs" role="group" aria-label={texts.title} tabIndex={-1} ref={takeFocus}>
      <Text fw={600} role="status">
        {texts[status]}
        {status === 'running' && <Loader size="xs" ml="xs" aria-label={texts.running} />}
      </Text>
      {reason !== undefined && <Text c="var(--mantine-color-error)">{documentErrorText(reason)}</Text>}
      <Text size="sm">{texts.figures(...figures)}</Text>
      {errors.length > 0 && (
        <>
          <Text size="sm">
            {skipped > errors.length && texts.first(formatNumber(errors.length))}
            {reasons}
          </Text>
          <DataTable headings={[texts.row, texts.reason]} minWidth={320}>
            {errors.slice(0, SHOWN_ERRORS).map(({ row, code, message }) => (
              <Table.Tr key={row}>
                <Table.Td>{formatNumber(row)}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {codeText('skipReason', code)}
                  <Text size="xs" lang={locale === 'en' ? undefined : 'en'}>
                    {message}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
          <Anchor href={`${owner}/contact-imports/${importId}/errors`} download="errors.csv" size="sm">
            {texts.all}
          </Anchor>
        </>
      )}
    </Stack>
  );
}
