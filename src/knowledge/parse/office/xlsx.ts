import { type Block, type BlockReader, DocumentError } from '../block.ts';
import { createRowWriter, type RowReader, TableLimits } from '../table.ts';
import { readCellFormats } from './cellFormat.ts';
import { attribute, isOn, type OfficePackage, openOfficePackage, relationId } from './officePackage.ts';
import { readLayout, type SheetContext, SheetRows } from './sheet.ts';

/** The name of each sheet that is shown, as a heading, and its rows. */
export const readXlsx: BlockReader = async function* ({ path }) {
  const office = await openOfficePackage(path, 'xl/workbook.xml');
  try {
    const { sheets, context } = await openWorkbook(office, new TableLimits());
    for (const { name, part } of sheets) yield* sheetBlocks(office, name, part, context);
  } finally {
    office.close();
  }
};

/** Reads the rows of the first sheet that is shown. @throws {DocumentError} When it is beyond the limits, or damaged. */
export const readXlsxRows: RowReader = async function* (path, limits) {
  const office = await openOfficePackage(path, 'xl/workbook.xml');
  try {
    const { sheets, context } = await openWorkbook(office, limits);
    for (const { part } of sheets) return yield* sheetRows(office, part, context);
  } finally {
    office.close();
  }
};

interface Sheet {
  readonly name: string;
  readonly part: string;
}

async function openWorkbook(office: OfficePackage, limits: TableLimits) {
  const { main } = office;
  const listed: { name: string; id: string | undefined; isShown: boolean }[] = [];
  let has1904Dates = false;
  if (main !== undefined) {
    await office.read(main, {
      open(name, attributes) {
        if (name === 'workbookPr') has1904Dates = isOn(attributes, 'date1904', false);
        if (name === 'sheet') {
          const isShown = (attribute(attributes, 'state') ?? 'visible') === 'visible';
          listed.push({ name: attribute(attributes, 'name') ?? '', id: relationId(attributes), isShown });
        }
        return true;
      },
    });
  }
  if (main === undefined || listed.length === 0)
    throw new DocumentError('The spreadsheet is damaged: its list of sheets is missing');
  const relations = await office.relations(main);
  const partOf = (type: string, usual: string) => relations.find((one) => one.type === type)?.target ?? usual;
  const context: SheetContext = {
    limits,
    sharedStrings: await readSharedStrings(office, partOf('sharedStrings', 'xl/sharedStrings.xml')),
    format: await readCellFormats(office, partOf('styles', 'xl/styles.xml'), has1904Dates),
  };
  const sheets = new Map<string, Sheet>();
  for (const [index, { name, id, isShown }] of listed.entries()) {
    // Where the reference leads nowhere, the part has its usual name.
    const part = relations.find((one) => one.id === id)?.target ?? `xl/worksheets/sheet${index + 1}.xml`;
    if (isShown && office.has(part) && !sheets.has(part)) sheets.set(part, { name, part });
  }
  return { sheets: sheets.values(), context };
}

async function* sheetBlocks(
  office: OfficePackage,
  name: string,
  part: string,
  context: SheetContext,
): AsyncGenerator<Block> {
  const writer = createRowWriter();
  let hasRows = false;
  const withName = function* (block: Block | undefined): Generator<Block> {
    if (!block) return;
    if (!hasRows && name.trim() !== '') yield { kind: 'heading', text: name };
    hasRows = true;
    yield block;
  };
  for await (const cells of sheetRows(office, part, context)) yield* withName(writer.write(cells));
  yield* withName(writer.end());
}

async function* sheetRows(
  office: OfficePackage,
  part: string,
  context: SheetContext,
): AsyncGenerator<readonly string[]> {
  const rows = new SheetRows(context, await readLayout(office, part));
  yield* office.readItems(part, rows, () => rows.take());
}

async function readSharedStrings(office: OfficePackage, part: string): Promise<readonly string[]> {
  const strings: string[] = [];
  let isInText = false;
  await office.read(part, {
    open(name) {
      if (name === 'si') strings.push('');
      isInText = name === 't';
      // How the text is pronounced.
      return name !== 'rPh';
    },
    text(piece) {
      if (isInText) strings[strings.length - 1] += piece;
    },
    close() {
      isInText = false;
    },
  });
  return strings;
}
