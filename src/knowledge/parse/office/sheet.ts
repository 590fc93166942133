import type { TableLimits } from '../table.ts';
import { type Attributes, attribute, isOn, type OfficePackage, type XmlHandlers } from './officePackage.ts';

/** Cells as `B7`; in a range with the last one. */
const REFERENCE = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/i;

/** A cell by its column and row, from 0. */
interface Position {
  readonly column: number;
  readonly row: number;
}

/** The settings of a sheet that stand before and after its cells. */
export interface SheetLayout {
  readonly hiddenColumns: readonly { readonly first: number; readonly last: number }[];
  /** Last rows of merged cells, by the position of their first cell. */
  readonly mergedUntil: ReadonlyMap<string, number>;
}

export interface SheetContext {
  readonly limits: TableLimits;
  readonly sharedStrings: readonly string[];
  /** A value as its cell's format shows it. */
  readonly format: (value: number | string, style: number) => string;
}

export async function readLayout(office: OfficePackage, part: string): Promise<SheetLayout> {
  const hiddenColumns: { first: number; last: number }[] = [];
  const mergedUntil = new Map<string, number>();
  await office.read(part, {
    open(name, attributes) {
      if (name === 'col' && isHidden(attributes, 'width')) {
        const [first, last] = [attribute(attributes, 'min'), attribute(attributes, 'max')];
        hiddenColumns.push({ first: Number(first) - 1, last: Number(last) - 1 });
      }
      const [from, to] = (name === 'mergeCell' ? (attribute(attributes, 'ref') ?? '') : '').split(':');
      const [first, last] = [positionOf(from), positionOf(to)];
      if (first && last && last.row > first.row) mergedUntil.set(keyOf(first), last.row);
      // Cells are read later.
      return name !== 'row';
    },
  });
  return { hiddenColumns, mergedUntil };
}

/**
 * Collects the rows that are shown, with the values as they are shown. A merged cell's value stands in each of its rows.
 *
 * @see ECMA-376 part 1, section 18.3.1
 */
export class SheetRows implements XmlHandlers {
  readonly #context: SheetContext;
  readonly #layout: SheetLayout;
  readonly #merged = new Map<number, { readonly text: string; readonly lastRow: number }>();
  #rows: string[][] = [];
  #cells: string[] = [];
  #row = -1;
  #column = -1;
  #isHiddenRow = false;
  #type = 'n';
  #style = 0;
  #value = '';
  #isInValue = false;

  constructor(context: SheetContext, layout: SheetLayout) {
    this.#context = context;
    this.#layout = layout;
  }

  /** @returns The rows that are complete. */
  take(): string[][] {
    const done = this.#rows;
    this.#rows = [];
    return done;
  }

  open(name: string, attributes: Attributes): boolean {
    if (name === 'row') {
      const row = Number(attribute(attributes, 'r'));
      this.#row = row > 0 ? row - 1 : this.#row + 1;
      this.#column = -1;
      this.#cells = [];
      this.#isHiddenRow = isHidden(attributes, 'ht');
    } else if (name === 'c') {
      this.#column = positionOf(attribute(attributes, 'r'))?.column ?? this.#column + 1;
      this.#type = attribute(attributes, 't') ?? 'n';
      this.#style = Number(attribute(attributes, 's') ?? 0);
      this.#value = '';
    }
    this.#isInValue = name === 'v' || name === 't';
    return name !== 'rPh';
  }

  text(text: string): void {
    if (this.#isInValue) this.#value += text;
  }

  close(name: string): void {
    this.#isInValue = false;
    if (name === 'c' && this.#value !== '') this.#endCell();
    if (name === 'row') this.#endRow();
  }

  #endCell(): void {
    const [column, row] = [this.#column, this.#row];
    this.#context.limits.countCell(column);
    const text = this.#shown();
    const lastRow = this.#layout.mergedUntil.get(keyOf({ column, row }));
    if (this.#layout.hiddenColumns.some(({ first, last }) => column >= first && column <= last)) return;
    if (lastRow !== undefined) this.#merged.set(column, { text, lastRow });
    this.#cells[column] = text;
  }

  #shown(): string {
    const { sharedStrings, format } = this.#context;
    const value = this.#value;
    switch (this.#type) {
      case 's':
        return format(sharedStrings[Number(value)] ?? '', this.#style);
      case 'b':
        return value === '1' || value === 'true' ? 'TRUE' : 'FALSE';
      case 'e':
        return value;
      case 'd':
        return value.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '').replace('T', ' ');
      case 'n':
        return Number.isFinite(Number(value)) ? format(Number(value), this.#style) : value;
      default:
        return format(value, this.#style);
    }
  }

  #endRow(): void {
    if (this.#isHiddenRow || this.#cells.length === 0) return;
    this.#context.limits.countRow();
    for (const [column, { text, lastRow }] of this.#merged) {
      if (this.#row > lastRow) this.#merged.delete(column);
      else this.#cells[column] ??= text;
    }
    this.#rows.push(Array.from(this.#cells, (cell) => cell ?? ''));
  }
}

function isHidden(attributes: Attributes, size: 'width' | 'ht'): boolean {
  return isOn(attributes, 'hidden', false) || Number(attribute(attributes, size) ?? 1) === 0;
}

function positionOf(reference = ''): Position | undefined {
  const [, letters, row] = REFERENCE.exec(reference) ?? [];
  if (letters === undefined || row === undefined) return undefined;
  const column = [...letters.toUpperCase()].reduce((sum, one) => sum * 26 + one.charCodeAt(0) - 64, 0);
  return { column: column - 1, row: Number(row) - 1 };
}

function keyOf({ column, row }: Position): string {
  return `${column} ${row}`;
}
