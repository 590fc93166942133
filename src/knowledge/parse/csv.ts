import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';

import { type BlockReader, DocumentError } from './block.ts';
import { createRowWriter, type RowReader, TableLimits } from './table.ts';
import { readText } from './textStream.ts';

const SEPARATORS = [',', ';', '\t', '|'] as const;
/** Bounds a record whose quote is never closed. */
const MAX_RECORD_CHARACTERS = 1_048_576;

/** Reads one block per row. */
export const readCsv: BlockReader = async function* ({ path }) {
  const rows = createRowWriter();
  for await (const cells of readCsvRows(path, new TableLimits())) {
    const block = rows.write(cells);
    if (block) yield block;
  }
  const titles = rows.end();
  if (titles) yield titles;
};

/** Reads the cells of each row that has some. @throws {DocumentError} When the table is beyond the limits, or damaged. */
export const readCsvRows: RowReader = async function* (path, limits) {
  const pieces = readText(path);
  const first = await pieces.next();
  if (first.done) return;
  const start = startOf(first.value);
  const parser = parse({
    delimiter: start.separator,
    // Before a row is kept: one of many millions of columns would not fit into memory.
    cast(value, { column }) {
      limits.countCell(Number(column));
      return value;
    },
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARACTERS,
    bom: true,
  });
  const source = Readable.from(withFirst(start.text, pieces));
  source.once('error', (error) => parser.destroy(error));
  try {
    for await (const record of source.pipe(parser) as AsyncIterable<string[]>) {
      limits.countRow();
      yield record;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new DocumentError(`The table cannot be read: ${reasonOf(error)}`, { cause: error });
  }
};

async function* withFirst(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/**
 * The separator that a first line such as `sep=;` names, which Excel writes and reads; else the most frequent one in the
 * first line, outside quotes.
 */
function startOf(text: string): { readonly separator: string; readonly text: string } {
  const [named, separator] = /^\ufeff?"?sep=(.)"?(?:\r?\n|\r|$)/i.exec(text) ?? [];
  if (named !== undefined && separator !== undefined) return { separator, text: text.slice(named.length) };
  const line = (text.split(/[\r\n]+/, 1)[0] ?? '').replace(/"[^"]*"/g, '');
  const counts = SEPARATORS.map((one) => ({ separator: one, count: line.split(one).length }));
  const best = counts.reduce((most, one) => (one.count > most.count ? one : most));
  return { separator: best.separator, text };
}

function reasonOf({ code, lines }: CsvError & { lines?: number }): string {
  const where = lines === undefined ? '' : ` near line ${lines}`;
  if (code === 'CSV_MAX_RECORD_SIZE')
    return `a row is too long${where}, perhaps for a quote that is not closed`;
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `a quote is not closed${where}`;
  return `its quotes or columns are not in order${where}`;
}
