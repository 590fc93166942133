import { type CallwayError, invalid } from '../../base/errors.ts';
import { type DocumentType, TYPE_NAMES, typeOfName } from '../documentType.ts';
import { kindOfText } from './textKind.ts';

/** Detects a file's type while it is streamed. */
export interface TypeDetector {
  push(bytes: Buffer): void;
  /** @throws {CallwayError} 400 When the file is empty, encrypted, cut off, unsupported, or not what its name claims. */
  type(): DocumentType;
}

/** Enough to detect a text type; a PDF's signature is within the first 1,024 bytes. */
const HEAD_BYTES = 4_096;
const PDF_SIGNATURE = '%PDF-';
const PDF_SIGNATURE_WITHIN_BYTES = 1_024;
/** An archive ends with its directory's end record, which a comment of at most 65,535 bytes may follow. */
const MAX_ZIP_END_BYTES = 22 + 65_535;

const ZIP_SIGNATURE = Buffer.from('PK\x03\x04', 'latin1');
const ZIP_END_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1');
/** Compound files: Office before 2007, and encrypted files of Office since. @see MS-CFB section 2.2 */
const COMPOUND_SIGNATURE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
const RICH_TEXT_SIGNATURE = Buffer.from('{\\rtf', 'latin1');
const ENCRYPTED_STREAM = Buffer.from('EncryptedPackage', 'utf16le');

/**
 * Part names by which Office documents differ, before `.xml` or a number and `.xml`; an archive holds names uncompressed,
 * and some programs write them with backslashes.
 */
const OFFICE_PARTS = [
  ['docx', [Buffer.from('word/document'), Buffer.from('word\\document')]],
  ['pptx', [Buffer.from('ppt/presentation'), Buffer.from('ppt\\presentation')]],
  ['xlsx', [Buffer.from('xl/workbook'), Buffer.from('xl\\workbook')]],
] as const;
/** Binary workbooks (XLSB), and OpenDocument, which names its type first. */
const OTHER_PARTS = [
  Buffer.from('xl/workbook.bin'),
  Buffer.from('mimetypeapplication/vnd.oasis.opendocument'),
];
const CARRY_BYTES = 64;

/** Types that only a program makes: a name that claims one without its content is a mistake. */
const BINARY_TYPES: readonly DocumentType[] = ['pdf', 'docx', 'pptx', 'xlsx'];

/** @param part - The part of the form that has the file: errors name it, and their codes begin with it. */
export function createTypeDetector(fileName: string, part: string): TypeDetector {
  const refusal = (fault: string, message: string) =>
    invalid(`${part}_${fault}`, message, [{ path: `/${part}`, message }]);
  const seen = { refusal, head: Buffer.alloc(0), lengthBytes: 0, zipEndAt: -1, parts: new Set<string>() };
  let carry: Buffer = Buffer.alloc(0);

  const scanContainer = (bytes: Buffer) => {
    const window = Buffer.concat([carry, bytes]);
    const end = window.lastIndexOf(ZIP_END_SIGNATURE);
    if (end >= 0) seen.zipEndAt = seen.lengthBytes - carry.length + end;
    for (const [name, parts] of OFFICE_PARTS) {
      if (parts.some((part) => window.includes(part))) seen.parts.add(name);
    }
    if (window.includes(ENCRYPTED_STREAM)) seen.parts.add('encrypted');
    if (OTHER_PARTS.some((part) => window.includes(part))) seen.parts.add('other');
    carry = Buffer.from(window.subarray(-CARRY_BYTES));
  };
  return {
    push(bytes) {
      const missing = HEAD_BYTES - seen.head.length;
      if (missing > 0) seen.head = Buffer.concat([seen.head, bytes.subarray(0, missing)]);
      if (isContainer(seen.head)) scanContainer(bytes);
      seen.lengthBytes += bytes.length;
    },
    type() {
      const type = contentType(seen, fileName);
      const claimed = typeOfName(fileName);
      if (claimed && claimed !== type && BINARY_TYPES.includes(claimed)) {
        throw refusal(
          'type_mismatch',
          `The file is named like ${TYPE_NAMES[claimed]}, but holds ${TYPE_NAMES[type]}`,
        );
      }
      return type;
    },
  };
}

interface Seen {
  readonly refusal: (fault: string, message: string) => CallwayError;
  readonly head: Buffer;
  readonly lengthBytes: number;
  readonly zipEndAt: number;
  readonly parts: ReadonlySet<string>;
}

function contentType(seen: Seen, fileName: string): DocumentType {
  const { refusal, head, lengthBytes } = seen;
  if (lengthBytes === 0) throw refusal('empty', 'The file is empty');
  const claimed = typeOfName(fileName);
  if (isPdf(head, claimed)) return 'pdf';
  if (startsWith(head, ZIP_SIGNATURE)) return officeType(seen);
  if (startsWith(head, COMPOUND_SIGNATURE)) {
    throw seen.parts.has('encrypted')
      ? refusal('encrypted', 'The file is protected by a password; save it without one')
      : refusal('type_unsupported', 'The file has an old Office format; save it as DOCX, PPTX or XLSX');
  }
  if (startsWith(head, RICH_TEXT_SIGNATURE)) {
    throw refusal('type_unsupported', 'The file is Rich Text (RTF), which is not read; save it as DOCX');
  }
  const kind = kindOfText(head, claimed);
  if (kind) return kind;
  if (claimed && !BINARY_TYPES.includes(claimed)) {
    throw refusal(
      'encoding_unknown',
      `The file is named like ${TYPE_NAMES[claimed]}, but holds bytes that no text has; if it is one, save it as UTF-8`,
    );
  }
  throw refusal(
    'type_unsupported',
    'The file is of no supported type; send PDF, DOCX, PPTX, XLSX, HTML, mail (EML), Markdown, CSV, JSON or plain text',
  );
}

/** Data may precede the signature, but a text that mentions it is not a PDF. */
function isPdf(head: Buffer, claimed: DocumentType | undefined): boolean {
  const at = head.subarray(0, PDF_SIGNATURE_WITHIN_BYTES).indexOf(PDF_SIGNATURE);
  if (at < 0) return false;
  const isFirst = head.toString('utf8', 0, at).trim() === '';
  return isFirst || claimed === undefined || claimed === 'pdf' || kindOfText(head, claimed) === undefined;
}

function officeType({ refusal, parts, zipEndAt, lengthBytes }: Seen): DocumentType {
  if (zipEndAt < 0 || zipEndAt < lengthBytes - MAX_ZIP_END_BYTES) {
    throw refusal('truncated', 'The file is cut off: its end is missing; upload it again');
  }
  if (parts.has('other')) {
    throw refusal(
      'type_unsupported',
      'The file has a format of Office or OpenDocument that is not read; save it as DOCX, PPTX or XLSX',
    );
  }
  const found = OFFICE_PARTS.find(([name]) => parts.has(name))?.[0];
  if (found) return found;
  throw refusal('type_unsupported', 'The file is an archive, but no DOCX, PPTX or XLSX; send its files');
}

function isContainer(head: Buffer): boolean {
  return startsWith(head, ZIP_SIGNATURE) || startsWith(head, COMPOUND_SIGNATURE);
}

function startsWith(bytes: Buffer, mark: Buffer): boolean {
  return bytes.subarray(0, mark.length).equals(mark);
}
