import { Table, type TableProps } from '@mantine/core';
import type { ReactNode } from 'react';

interface ColumnHeading {
  readonly text: ReactNode;
  /** Its cells are aligned at their end, as numbers are. */
  readonly isEnd?: boolean;
  /** Not shown on a phone. */
  readonly isWide?: boolean;
}

export interface DataTableProps extends TableProps {
  /** An empty text heads a column of buttons; false leaves the column out. */
  readonly headings: readonly (ColumnHeading | string | false)[];
  /** In pixels; a narrower page scrolls the table. */
  readonly minWidth?: number;
}

/** A table with headings, which scrolls where it is wider than the page. @param children - Its rows. */
export function DataTable({ headings, minWidth = 340, children, ...table }: DataTableProps) {
  return (
    <Table.ScrollContainer minWidth={minWidth} w="100%">
      <Table {...table}>
        <Table.Thead>
          <Table.Tr style={{ whiteSpace: 'nowrap' }}>
            {headings.map((heading, place) => {
              if (heading === false) return null;
              const { text, isEnd, isWide }: ColumnHeading =
                typeof heading === 'string' ? { text: heading } : heading;
              const Cell = text === '' ? Table.Td : Table.Th;
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns stay in their places.
                <Cell key={place} ta={isEnd ? 'end' : undefined} visibleFrom={isWide ? 'sm' : undefined}>
                  {text}
                </Cell>
              );
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
