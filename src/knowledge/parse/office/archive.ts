import type { Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';

import { DocumentError } from '../block.ts';

const MAX_ENTRIES = 10_000;
/** The most bytes of all inflated parts together. */
const MAX_INFLATED_BYTES = 268_435_456;
/** Text deflates to a tenth, tables to a fiftieth; a higher ratio is a decompression bomb. */
const MAX_RATIO = 250;
/** Smaller parts may have any ratio. */
const MIN_RATIO_CHECK_BYTES = 8_388_608;
/** General purpose flag of an encrypted entry. @see APPNOTE 4.4.4 */
const ENCRYPTED_FLAG = 1;

/** An archive whose size has been checked. */
export interface Archive {
  /** Parts are named as in `word/document.xml`, whatever the archive's slashes are, and found in any case. */
  has(name: string): boolean;
  /** Streams a part's text; nothing where the part does not exist. */
  read(name: string): AsyncGenerator<string>;
  close(): void;
}

/**
 * Opens an archive after inflating it once to check its real size: the sizes that an archive declares may be wrong.
 *
 * @throws {DocumentError} When it is damaged, encrypted or a decompression bomb.
 */
export async function openArchive(path: string): Promise<Archive> {
  const zip = await open(path);
  try {
    const entries = await entriesOf(zip);
    await checkSizes(zip, entries);
    return {
      has: (name) => entries.has(name.toLowerCase()),
      async *read(name) {
        const entry = entries.get(name.toLowerCase());
        if (!entry) return;
        let decoder: InstanceType<typeof TextDecoder> | undefined;
        for await (const piece of await contentOf(zip, entry)) {
          decoder ??= new TextDecoder(encodingOf(piece as Buffer));
          yield decoder.decode(piece as Buffer, { stream: true });
        }
      },
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error instanceof DocumentError ? error : damaged(error);
  }
}

function open(path: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    // Names are kept as they are written: absolute ones would be an error, but no file is ever unpacked.
    const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true, decodeStrings: false };
    yauzl.open(path, options, (error, zip) => {
      if (error) reject(damaged(error));
      else resolve(zip);
    });
  });
}

function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on('entry', (entry: Entry) => {
      if (entries.size >= MAX_ENTRIES)
        reject(new DocumentError(`The file has more than ${MAX_ENTRIES} parts`));
      else if (entry.generalPurposeBitFlag & ENCRYPTED_FLAG) {
        reject(new DocumentError('The file is protected by a password; save it without one'));
      } else {
        entries.set(nameOf(entry), entry);
        zip.readEntry();
      }
    });
    zip.once('end', () => resolve(entries));
    zip.once('error', reject);
    zip.readEntry();
  });
}

/** Returns the name in lower case, without a slash at its start. */
function nameOf({ fileNameRaw }: Entry): string {
  return fileNameRaw
    .toString('utf8')
    .replaceAll('\\', '/')
    .replace(/^(?:\.?\/)+/, '')
    .toLowerCase();
}

/** XML is UTF-8, or UTF-16 with a byte order mark. @see XML 1.0 section 4.3.3 */
function encodingOf(start: Buffer): string {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : 'utf-8';
}

async function checkSizes(zip: ZipFile, entries: ReadonlyMap<string, Entry>): Promise<void> {
  let inflatedBytes = 0;
  for (const entry of entries.values()) {
    let entryBytes = 0;
    for await (const piece of await contentOf(zip, entry)) {
      entryBytes += (piece as Buffer).length;
      inflatedBytes += (piece as Buffer).length;
      const isSuspicious =
        entryBytes > MIN_RATIO_CHECK_BYTES && entryBytes > entry.compressedSize * MAX_RATIO;
      if (inflatedBytes > MAX_INFLATED_BYTES || isSuspicious) {
        throw new DocumentError('The file unpacks to far more than a document holds; it was not read');
      }
    }
  }
}

function contentOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) reject(error);
      else resolve(stream);
    });
  });
}

function damaged(cause: unknown): DocumentError {
  return new DocumentError('The file is damaged or cut off; upload it again', { cause });
}
