import { Button, Loader, Stack, Text } from '@mantine/core';
import { infiniteQueryOptions, type UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { formatNumber } from '../formats.ts';
import { ErrorPage } from '../layout/ErrorPage.tsx';
import { textsIn } from '../texts.ts';
import { DataTable, type DataTableProps } from './DataTable.tsx';

const PAGE_SIZE = '50';

const texts = textsIn({
  en: { more: 'Load more', count: (shown: string, total: string) => `${shown} of ${total}` },
  'zh-TW': { more: '載入更多', count: (shown: string, total: string) => `${shown} / ${total}` },
});

interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: { readonly total?: number; readonly nextCursor: string | null };
}

/** What was read of a list. */
interface Listed<Item> {
  readonly items: readonly Item[];
  /** Of the whole list, where the API counts it. */
  readonly total: number | undefined;
}

/** A list of the API, read page by page. @param read - Reads one page. */
export function listQuery<Item>(
  queryKey: readonly unknown[],
  read: (page: { limit: string; cursor: string | undefined }) => Promise<Page<Item>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }) => read({ limit: PAGE_SIZE, cursor: pageParam || undefined }),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.nextCursor,
    select: ({ pages }): Listed<Item> => ({
      items: pages.flatMap(({ data }) => data),
      total: pages[0]?.pagination.total,
    }),
  });
}

type Pages<Item> = UseInfiniteQueryResult<Listed<Item>>;

interface PagedTableProps<Item> extends Omit<DataTableProps, 'children' | 'aria-label'> {
  readonly label: string;
  readonly pages: Pages<Item>;
  /** In place of a table without rows. */
  readonly none: ReactNode;
  /** The row of an item. */
  readonly children: (item: Item) => ReactNode;
}

/** A list as a table that grows by pages. */
export function PagedTable<Item>({ label, pages, none, children, ...table }: PagedTableProps<Item>) {
  const { data, error } = pages;
  if (!data) return error ? <ErrorPage error={error} /> : <Loader aria-label={label} />;
  const { items, total } = data;
  if (items.length === 0) return <Text>{none}</Text>;
  return (
    <Stack gap="sm" align="flex-start">
      <DataTable aria-label={label} {...table}>
        {items.map(children)}
      </DataTable>
      {total !== undefined && (
        <Text size="sm" c="dimmed">
          {texts.count(formatNumber(items.length), formatNumber(total))}
        </Text>
      )}
      <MoreButton pages={pages} />
    </Stack>
  );
}

/** Reads the next page of a list; nothing at its end. */
export function MoreButton<Item>({ pages }: { readonly pages: Pages<Item> }) {
  if (!pages.hasNextPage) return null;
  return (
    <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
      {texts.more}
    </Button>
  );
}
