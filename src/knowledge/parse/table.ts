import type { Block } from './block.ts';

/** Turns the rows of a table into texts that can be understood alone: each value with its column's title. */
export interface RowWriter {
  /** @returns `undefined` for the row of titles, and for an empty one. */
  write(cells: readonly string[]): Block | undefined;
}

export function createRowWriter(): RowWriter {
  let titles: readonly string[] | undefined;
  let isFirst = true;
  return {
    write(cells) {
      const values = cells.map((cell) => cell.trim());
      if (values.every((value) => value === '')) return undefined;
      if (isFirst) {
        isFirst = false;
        if (looksLikeTitles(values)) {
          titles = values;
          return undefined;
        }
      }
      const text = values
        .flatMap((value, column) => (value === '' ? [] : [withTitle(titles?.[column], value)]))
        .join('; ');
      return { kind: 'row', text };
    },
  };
}

function withTitle(title: string | undefined, value: string): string {
  return title ? `${title}: ${value}` : value;
}

/** Titles are short, different from each other, and no numbers. */
function looksLikeTitles(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== '');
  return (
    filled.length > 1 &&
    new Set(filled).size === filled.length &&
    filled.every((cell) => cell.length <= 80 && !/^[\d\s.,:%$€£/+-]+$/.test(cell))
  );
}
