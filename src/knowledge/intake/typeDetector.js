import { invalid } from '../../base/errors.js';
import { TYPE_NAMES, typeOfName } from '../documentType.js';
import { kindOfText } from './textKind.js';

/** Enough to tell what a text is; a PDF's mark stands within the first 1,024 bytes. */
const HEAD_BYTES = 4_096;
const PDF_MARK_WITHIN_BYTES = 1_024;
/** An archive ends with its directory's end record, which a comment of at most 65,535 bytes may follow. */
const LONGEST_ZIP_END_BYTES = 22 + 65_535;
const ZIP_MARK = Buffer.from('PK\x03\x04', 'latin1');
const ZIP_END_MARK = Buffer.from('PK\x05\x06', 'latin1');
/** Compound files: Office before 2007, and encrypted files of Office since. @see MS-CFB section 2.2 */
const COMPOUND_MARK = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
const ENCRYPTED_STREAM = Buffer.from('EncryptedPackage', 'utf16le');
/** Names of parts that tell the kinds of Office documents apart; names stand in an archive as they are. */
const OFFICE_PARTS = [
  ['docx', Buffer.from('word/document.xml')],
  ['pptx', Buffer.from('ppt/presentation.xml')],
  ['xlsx', Buffer.from('xl/workbook.xml')],
];
const CARRY_BYTES = 64;
/** Kinds that a program must have made, so that a name which claims one without its content is a mistake. */
const UNMISTAKABLE = ['pdf', 'docx', 'pptx', 'xlsx'];
export function createTypeDetector(fileName) {
  const seen = { head: Buffer.alloc(0), lengthBytes: 0, zipEndAt: -1, parts: new Set() };
  let carry = Buffer.alloc(0);
  const look = (bytes) => {
    const window = Buffer.concat([carry, bytes]);
    const end = window.lastIndexOf(ZIP_END_MARK);
    if (end >= 0) seen.zipEndAt = seen.lengthBytes - carry.length + end;
    for (const [name, part] of OFFICE_PARTS) if (window.includes(part)) seen.parts.add(name);
    if (window.includes(ENCRYPTED_STREAM)) seen.parts.add('encrypted');
    carry = Buffer.from(window.subarray(-CARRY_BYTES));
  };
  return {
    push(bytes) {
      const missing = HEAD_BYTES - seen.head.length;
      if (missing > 0) seen.head = Buffer.concat([seen.head, bytes.subarray(0, missing)]);
      if (isContainer(seen.head)) look(bytes);
      seen.lengthBytes += bytes.length;
    },
    type() {
      const type = contentType(seen, fileName);
      const claimed = typeOfName(fileName);
      if (claimed && claimed !== type && UNMISTAKABLE.includes(claimed)) {
        throw refusal(
          'dataset_type_mismatch',
          `The file is named like ${TYPE_NAMES[claimed]}, but holds ${TYPE_NAMES[type]}`,
        );
      }
      return type;
    },
  };
}
function contentType(seen, fileName) {
  const { head, lengthBytes } = seen;
  if (lengthBytes === 0) throw refusal('dataset_empty', 'The file is empty');
  if (head.subarray(0, PDF_MARK_WITHIN_BYTES).includes('%PDF-')) return 'pdf';
  if (startsWith(head, ZIP_MARK)) return officeType(seen);
  if (startsWith(head, COMPOUND_MARK)) {
    throw seen.parts.has('encrypted')
      ? refusal('dataset_encrypted', 'The file is protected by a password; save it without one')
      : refusal(
          'dataset_type_unsupported',
          'The file has an old Office format; save it as DOCX, PPTX or XLSX',
        );
  }
  const kind = kindOfText(head, typeOfName(fileName));
  if (kind) return kind;
  throw refusal(
    'dataset_type_unsupported',
    'The file is of no supported type; send PDF, DOCX, PPTX, XLSX, HTML, Markdown, CSV, JSON or plain text',
  );
}
function officeType({ parts, zipEndAt, lengthBytes }) {
  if (zipEndAt < 0 || zipEndAt < lengthBytes - LONGEST_ZIP_END_BYTES) {
    throw refusal('dataset_truncated', 'The file is cut off: its end is missing; upload it again');
  }
  const found = OFFICE_PARTS.find(([name]) => parts.has(name))?.[0];
  if (found) return found;
  throw refusal(
    'dataset_type_unsupported',
    'The file is an archive, but no DOCX, PPTX or XLSX; send its files',
  );
}
function isContainer(head) {
  return startsWith(head, ZIP_MARK) || startsWith(head, COMPOUND_MARK);
}
function startsWith(bytes, mark) {
  return bytes.subarray(0, mark.length).equals(mark);
}
function refusal(code, message) {
  return invalid(code, message, [{ path: '/dataset', message }]);
}
