import readXlsxFile, { type CellValue } from 'read-excel-file/node';

import { checkArchive } from './archive.ts';
import { type BlockReader, DocumentError } from './block.ts';
import { createRowWriter } from './table.ts';

/** Each sheet's name as a heading, and its rows. */
export const readXlsx: BlockReader = async function* ({ path }) {
  await checkArchive(path);
  for (const { sheet, data } of await readSheets(path)) {
    const rows = createRowWriter();
    const written = data.map((cells) => rows.write(cells.map(cellText)));
    const blocks = [...written, rows.end()].filter((block) => block !== undefined);
    if (blocks.length === 0) continue;
    yield { kind: 'heading', text: sheet };
    yield* blocks;
  }
};

async function readSheets(path: string) {
  try {
    return await readXlsxFile(path);
  } catch (error) {
    throw new DocumentError('The spreadsheet is damaged and cannot be read', { cause: error });
  }
}

function cellText(value: CellValue | null): string {
  if (value === null) return '';
  if (!((value as unknown) instanceof Date)) return String(value);
  const iso = (value as unknown as Date).toISOString();
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 16).replace('T', ' ');
}
