/** The end of a ZIP archive, with the longest comment. */
const END_BYTES = 65_557;
const MAX_DIRECTORY_BYTES = 1_048_576;
/** The most text of a part that is read for a few rows. */
const MAX_PART_CHARACTERS = 8_388_608;

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;
const DEFLATED = 8;

/** A part of a workbook in its archive. */
interface Entry {
  readonly method: number;
  readonly offset: number;
  readonly compressedBytes: number;
}

/**
 * Reads the first rows of the first sheet of an XLSX file that is shown. It reads slices of the file, and of its parts only
 * what comes before these rows, so that the file may be of any size. Numbers and dates are as they are stored.
 *
 * @param count - How many rows with some text.
 * @returns Undefined for a file that is no such workbook.
 * @see ECMA-376 part 1 section 18; PKWARE APPNOTE.TXT section 4.3
 */
export async function firstSheetRows(file: Blob, count: number): Promise<string[][] | undefined> {
  const entries = await entriesOf(file);
  const part = entries && (await firstSheetPart(file, entries));
  const sheet = part && entries.get(part);
  if (!entries || !sheet) return undefined;
  const hasRows = (xml: string) => elementsOf(xml, 'row').filter(({ inner }) => /<(?:\w+:)?c\b/.test(inner));
  const xml = await textOf(file, sheet, (text) => hasRows(text).length >= count);
  const rows = hasRows(xml).map(({ inner }) => elementsOf(inner, 'c'));
  const shared = await sharedTexts(file, entries.get('xl/sharedStrings.xml'), rows.slice(0, count).flat());
  return rows
    .map((cells) => cellTexts(cells, shared))
    .filter((cells) => cells.some((text) => text.trim() !== ''))
    .slice(0, count);
}

/** The parts of an archive by name. */
async function entriesOf(file: Blob): Promise<ReadonlyMap<string, Entry> | undefined> {
  const end = await viewOf(file, Math.max(0, file.size - END_BYTES), file.size);
  let at = end.byteLength - 22;
  while (at >= 0 && end.getUint32(at, true) !== END_SIGNATURE) at -= 1;
  if (at < 0) return undefined;
  const [bytes, start] = [end.getUint32(at + 12, true), end.getUint32(at + 16, true)];
  if (bytes > MAX_DIRECTORY_BYTES || start + bytes > file.size) return undefined;
  const directory = await viewOf(file, start, start + bytes);
  const entries = new Map<string, Entry>();
  for (
    let place = 0;
    place + ENTRY_BYTES <= bytes && directory.getUint32(place, true) === ENTRY_SIGNATURE;
  ) {
    const nameBytes = directory.getUint16(place + 28, true);
    const name = new Uint8Array(
      directory.buffer,
      place + ENTRY_BYTES,
      Math.min(nameBytes, bytes - place - 46),
    );
    entries.set(new TextDecoder().decode(name), {
      method: directory.getUint16(place + 10, true),
      compressedBytes: directory.getUint32(place + 20, true),
      offset: directory.getUint32(place + 42, true),
    });
    place +=
      ENTRY_BYTES + nameBytes + directory.getUint16(place + 30, true) + directory.getUint16(place + 32, true);
  }
  return entries;
}

async function firstSheetPart(file: Blob, entries: ReadonlyMap<string, Entry>): Promise<string | undefined> {
  const [workbook, relations] = [entries.get('xl/workbook.xml'), entries.get('xl/_rels/workbook.xml.rels')];
  if (!workbook || !relations) return undefined;
  const sheets = elementsOf(await textOf(file, workbook), 'sheet');
  const id = sheets
    .find(({ attributes }) => !/hidden$/i.test(attributes.get('state') ?? ''))
    ?.attributes.get('id');
  const related = elementsOf(await textOf(file, relations), 'Relationship');
  const target = related.find(({ attributes }) => attributes.get('Id') === id)?.attributes.get('Target');
  return target?.startsWith('/') ? target.slice(1) : target && `xl/${target}`;
}

/** The texts that cells of the type `s` name by their place. */
async function sharedTexts(
  file: Blob,
  part: Entry | undefined,
  cells: readonly Element[],
): Promise<readonly string[]> {
  const places = cells.map(({ attributes, inner }) =>
    attributes.get('t') === 's' ? Number(storedValue(inner)) : -1,
  );
  const last = Math.max(-1, ...places);
  if (!part || last < 0) return [];
  const xml = await textOf(file, part, (text) => elementsOf(text, 'si').length > last);
  return elementsOf(xml, 'si').map(({ inner }) => runsOf(inner));
}

function cellTexts(cells: readonly Element[], shared: readonly string[]): string[] {
  const texts: string[] = [];
  for (const { attributes, inner } of cells) {
    const column = columnOf(attributes.get('r')) ?? texts.length;
    while (texts.length < column) texts.push('');
    const type = attributes.get('t');
    if (type === 's') texts.push(shared[Number(storedValue(inner))] ?? '');
    else texts.push(type === 'inlineStr' ? runsOf(inner) : storedValue(inner));
  }
  return texts;
}

/** The column of `AB12`, from 0. */
function columnOf(reference = ''): number | undefined {
  const [letters] = /^[A-Z]{1,3}(?=\d)/.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

const storedValue = (inner: string): string => unescaped(elementsOf(inner, 'v')[0]?.inner ?? '');

/** A text in runs, without how it is read aloud. */
function runsOf(inner: string): string {
  const spoken = /<(?:\w+:)?rPh\b[\s\S]*?<\/(?:\w+:)?rPh>/g;
  return elementsOf(inner.replace(spoken, ''), 't')
    .map((run) => unescaped(run.inner))
    .join('');
}

interface Element {
  readonly attributes: ReadonlyMap<string, string>;
  readonly inner: string;
}

/** The whole elements of a name, which has none of its own name inside. */
function elementsOf(xml: string, name: string): Element[] {
  const element = new RegExp(`<(?:\\w+:)?${name}(\\s[^<>]*?)?(?:/>|>([\\s\\S]*?)</(?:\\w+:)?${name}>)`, 'g');
  return Array.from(xml.matchAll(element), ([, attributes = '', inner = '']) => ({
    attributes: new Map(
      Array.from(
        attributes.matchAll(/(?:\w+:)?(\w+)\s*=\s*["']([^"']*)["']/g),
        ([, key = '', value = '']) => [key, unescaped(value)],
      ),
    ),
    inner,
  }));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** @param isEnough - Tells whether more of the part is to be read. */
async function textOf(file: Blob, entry: Entry, isEnough?: (text: string) => boolean): Promise<string> {
  const header = await viewOf(file, entry.offset, entry.offset + LOCAL_HEADER_BYTES);
  const start = entry.offset + LOCAL_HEADER_BYTES + header.getUint16(26, true) + header.getUint16(28, true);
  const stored = file.slice(start, start + entry.compressedBytes).stream();
  const bytes =
    entry.method === DEFLATED ? stored.pipeThrough(new DecompressionStream('deflate-raw')) : stored;
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let checkAt = 0; text.length < MAX_PART_CHARACTERS; ) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    if (text.length < checkAt) continue;
    if (isEnough?.(text)) break;
    // So that looking takes linear time.
    checkAt = 2 * text.length;
  }
  await reader.cancel();
  return text;
}

async function viewOf(file: Blob, start: number, end: number): Promise<DataView> {
  return new DataView(await file.slice(start, end).arrayBuffer());
}
