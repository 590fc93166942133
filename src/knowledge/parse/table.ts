import { type Block, DocumentError } from './block.ts';

/** The largest table that is read. */
export interface TableSize {
  readonly rows: number;
  readonly columns: number;
  readonly cells: number;
}

/** Far beyond the tables that people read; more is an export of a database, or made to exhaust memory. */
const READ_BY_PEOPLE: TableSize = { rows: 200_000, columns: 1_000, cells: 2_000_000 };
/** A longer value is a text, not a label, and stands in its first row only. */
const MAX_REPEATED_CHARACTERS = 200;

/** Counts what the tables of one document have. */
export class TableLimits {
  readonly #size: TableSize;
  #rows = 0;
  #cells = 0;

  constructor(size: TableSize = READ_BY_PEOPLE) {
    this.#size = size;
  }

  /** @throws {DocumentError} When there are more rows than the limit. */
  countRow(): void {
    this.#rows += 1;
    if (this.#rows > this.#size.rows) throw tooLarge(this.#size.rows, 'rows');
  }

  /**
   * @param column - The column, from 0.
   * @throws {DocumentError} When there are more columns in the row, or more cells, than the limit.
   */
  countCell(column: number): void {
    if (column >= this.#size.columns) throw tooLarge(this.#size.columns, 'columns');
    this.#cells += 1;
    if (this.#cells > this.#size.cells) throw tooLarge(this.#size.cells, 'cells');
  }
}

function tooLarge(limit: number, what: string): DocumentError {
  return new DocumentError(`The table has more than ${limit} ${what}; split it into smaller ones`);
}

/** Reads the cells of a table's rows, as they are shown, in order and lazily. */
export type RowReader = (path: string, limits: TableLimits) => AsyncIterable<readonly string[]>;

/** Remembers the values of cells that are merged downwards: each of their rows has them, so that it can be read alone. */
export class MergedCells {
  readonly #open = new Map<number, { readonly text: string; rowsLeft: number }>();

  /** @param rows - The number of rows, the first included. */
  begin(column: number, text: string, rows = Number.POSITIVE_INFINITY): void {
    this.#open.set(column, { text: text.length > MAX_REPEATED_CHARACTERS ? '' : text, rowsLeft: rows - 1 });
  }

  end(column: number): void {
    this.#open.delete(column);
  }

  /** @returns The text of the cell that reaches down into this column; undefined when there is none. */
  textAt(column: number): string | undefined {
    return this.#open.get(column)?.text;
  }

  /**
   * Ends a row.
   *
   * @param begun - Columns of the cells that began in it.
   */
  endRow(begun: ReadonlySet<number>): void {
    for (const [column, cell] of this.#open)
      if (!begun.has(column) && --cell.rowsLeft <= 0) this.#open.delete(column);
  }
}

/** Converts table rows to texts that can be understood alone: each value with its column's header. */
export interface RowWriter {
  /** @returns The row's block; undefined for the header and for an empty row. */
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
