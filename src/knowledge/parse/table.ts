import type { Block } from './block.ts';

/** Turns the rows of a table into texts that can be understood alone: each value with its column's title. */
export interface RowWriter {
  /** @returns `undefined` for the row of titles, and for an empty one. */
  write(cells: readonly string[]): Block | undefined;
  /** @returns The titles, where nothing stood below them: then they are all that the table says. */
  end(): Block | undefined;
}

export function createRowWriter(): RowWriter {
  let titles: readonly string[] | undefined;
  let isFirst = true;
  let hasRows = false;
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
      hasRows = true;
      return rowOf(values.map((value, column) => (value === '' ? '' : withTitle(titles?.[column], value))));
    },
    end: () => (titles && !hasRows ? rowOf(titles) : undefined),
  };
}

function rowOf(values: readonly string[]): Block {
  return { kind: 'row', text: values.filter((value) => value !== '').join('; ') };
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
