import { firstSheetRows } from './firstSheetRows.ts';

/** Holds a header and some rows of any file. */
const SLICE_BYTES = 65_536;
const MAX_ROWS = 5;
const SEPARATORS = [',', ';', '\t', '|'];

/** What a CSV or XLSX file begins with. */
export interface FirstRows {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Reads the header and the first rows of a file. @returns Undefined for one that is no XLSX, and no CSV in UTF-8 or UTF-16. */
export async function readFirstRows(file: File): Promise<FirstRows | undefined> {
  if (/\.xlsx$/i.test(file.name)) {
    const rows = await firstSheetRows(file, 1 + MAX_ROWS).catch(() => undefined);
    return rows && rowsUnder(rows);
  }
  if (!/\.(csv|tsv|txt)$/i.test(file.name)) return undefined;
  const isWhole = file.size <= SLICE_BYTES;
  const text = textOf(new Uint8Array(await file.slice(0, SLICE_BYTES).arrayBuffer()));
  return text === undefined ? undefined : firstRowsOf(text, isWhole);
}

/** @param isWhole - False where the text may end in the middle of a row. */
export function firstRowsOf(text: string, isWhole: boolean): FirstRows | undefined {
  const [named = '', separator] = /^"?sep=(.)"?(?:\r?\n|\r|$)/i.exec(text) ?? [];
  const table = text.slice(named.length);
  const rows = cellsOf(table, separator ?? separatorOf(table));
  return rowsUnder(isWhole ? rows : rows.slice(0, -1));
}

function rowsUnder([headers, ...rows]: readonly (readonly string[])[]): FirstRows | undefined {
  return headers && { headers: headers.map((header) => header.trim()), rows: rows.slice(0, MAX_ROWS) };
}

/** UTF-16 begins with its byte order mark. @returns Undefined for other encodings. */
function textOf(bytes: Uint8Array): string | undefined {
  const [first = 0, second = 0] = bytes;
  const mark = (first << 8) | second;
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  try {
    // The slice may end within a character.
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** The most frequent one of the first line, outside quotes: so does the service. */
function separatorOf(text: string): string {
  const line = (text.split(/[\r\n]+/, 1)[0] ?? '').replace(/"[^"]*"/g, '');
  const [best = ','] = SEPARATORS.toSorted((one, other) => line.split(other).length - line.split(one).length);
  return best;
}

/** The cells of each row that has some. @see RFC 4180 section 2 */
function cellsOf(text: string, separator: string): string[][] {
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)"|([^\\r\\n\\${separator}]*))(\\${separator}|\\r?\\n|\\r|$)`,
    'y',
  );
  const rows: string[][] = [[]];
  while (cell.lastIndex < text.length) {
    const [, quoted, plain = '', end = ''] = cell.exec(text) ?? [];
    if (cell.lastIndex === 0) break;
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== separator) rows.push([]);
  }
  return rows.filter((row) => row.some((one) => one.trim() !== ''));
}
