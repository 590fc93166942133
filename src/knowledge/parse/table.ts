import type { Block } from './block.ts';

/** Converts table rows to texts that can be understood alone: each value with its column's header. */
export interface RowWriter {
  /** @returns Undefined for the header and for an empty row. */
  write(cells: readonly string[]): Block | undefined;
  /** @returns The header of a table without rows. */
  end(): Block | undefined;
}

export function createRowWriter(): RowWriter {
  let headers: readonly string[] | undefined;
  let isFirst = true;
  let hasRows = false;
  return {
    write(cells) {
      const values = cells.map((cell) => cell.trim());
      if (values.every((value) => value === '')) return undefined;
      if (isFirst) {
        isFirst = false;
        if (looksLikeHeader(values)) {
          headers = values;
          return undefined;
        }
      }
      hasRows = true;
      return rowOf(values.map((value, column) => (value === '' ? '' : withHeader(headers?.[column], value))));
    },
    end: () => (headers && !hasRows ? rowOf(headers) : undefined),
  };
}

function rowOf(values: readonly string[]): Block {
  return { kind: 'row', text: values.filter((value) => value !== '').join('; ') };
}

function withHeader(header: string | undefined, value: string): string {
  return header ? `${header}: ${value}` : value;
}

/** Headers are short, unique and not numbers. */
function looksLikeHeader(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== '');
  return (
    filled.length > 1 &&
    new Set(filled).size === filled.length &&
    filled.every((cell) => cell.length <= 80 && !/^[\d\s.,:%$€£/+-]+$/.test(cell))
  );
}
