import type { DocumentType } from '../documentType.ts';

type TextType = Extract<DocumentType, 'html' | 'mail' | 'json' | 'csv' | 'markdown' | 'text'>;

/** Control characters that text does not contain: below U+0020 but tab, line ends, form feed, and the escape of ISO-2022. */
const FORBIDDEN_CONTROLS = new Set(
  Array.from({ length: 32 }, (_, code) => code).filter((code) => ![9, 10, 11, 12, 13, 27].includes(code)),
);
/** Legacy encodings and damaged text contain a few. */
const TOLERATED_CONTROL_SHARE = 0.01;
const MIN_TABLE_LINES = 3;
/** Matches separators of cells: in prose a space follows the mark; between cells none does. */
const SEPARATORS = [/;(?!\s)/g, /\t/g, /,(?!\s)/g] as const;
/** Lines of prose may have the same mark once by chance. */
const MIN_SEPARATORS = { inText: 2, elsewhere: 1 } as const;

const HTML_START = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i;
/** Header fields of a mail, which may follow the line that begins a message in a mailbox. @see RFC 5322 section 2.2 */
const MAIL_HEADERS = /^(?:From [^\n]*\r?\n)?(?:[!-9;-~]+[ \t]*:[^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*)+/;
const MAIL_FIELDS = [
  'from',
  'to',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'received',
  'content-type',
];
/** A note may begin with lines such as `Date:`. */
const MIN_MAIL_FIELDS = { ofMail: 1, elsewhere: 3 } as const;
const JSON_START = /^\s*(?:\{\s*(?:"|\})|\[\s*(?:[[{"\]]|-?\d))/;
const MARKDOWN_MARKS = /^(?:#{1,6} \S|```|~~~|[-*] \[.\] |\|.*\|$|\[[^\]]+\]: )/m;
const LINK_OR_HEADING = /^#{1,6} \S|\]\(\S+\)/m;

/**
 * Detects a text type by the start of the file. Between types that look alike (a table in Markdown, or in plain text) the
 * claimed type decides.
 *
 * @param claimed - The type by the file's name.
 * @returns The kind; undefined for binary data.
 */
export function kindOfText(head: Buffer, claimed: DocumentType | undefined): TextType | undefined {
  const wide = wideEncoding(head);
  if (!wide && isBinary(head)) return undefined;
  const text = wide ? new TextDecoder(wide).decode(head) : head.toString('utf8').replace(/^\uFEFF/, '');
  if (looksLikeMail(text, claimed)) return 'mail';
  if (HTML_START.test(text)) return 'html';
  if (claimed === 'html' && /<[a-z][^>]*>/i.test(text)) return 'html';
  if (JSON_START.test(text) && claimed !== 'markdown' && claimed !== 'csv') return 'json';
  if (claimed === 'json') return 'json';
  const least = claimed === 'text' ? MIN_SEPARATORS.inText : MIN_SEPARATORS.elsewhere;
  if (claimed === 'csv' || (claimed !== 'markdown' && looksLikeTable(text, least))) return 'csv';
  if (claimed === 'markdown' || (MARKDOWN_MARKS.test(text) && LINK_OR_HEADING.test(text))) return 'markdown';
  return 'text';
}

/** UTF-16 contains NUL bytes; its byte order mark tells it from binary data. */
function wideEncoding(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return undefined;
}

function isBinary(head: Buffer): boolean {
  if (head.includes(0)) return true;
  const controls = head.reduce((count, byte) => count + (FORBIDDEN_CONTROLS.has(byte) ? 1 : 0), 0);
  return controls > head.length * TOLERATED_CONTROL_SHARE;
}

function looksLikeMail(text: string, claimed: DocumentType | undefined): boolean {
  const headers = MAIL_HEADERS.exec(text)?.[0];
  if (headers === undefined) return false;
  const names = new Set(
    [...headers.matchAll(/^([!-9;-~]+)[ \t]*:/gm)].map(([, name = '']) => name.toLowerCase()),
  );
  const known = MAIL_FIELDS.filter((name) => names.has(name)).length;
  if (claimed === 'mail') return known >= MIN_MAIL_FIELDS.ofMail;
  return known >= MIN_MAIL_FIELDS.elsewhere && (names.has('mime-version') || names.has('message-id'));
}

/** Whether the first lines have the same number of one separator, and at least `least`. */
function looksLikeTable(text: string, least: number): boolean {
  const lines = text.split(/\r?\n/, 12).slice(0, -1);
  if (lines.length < MIN_TABLE_LINES) return false;
  return SEPARATORS.some((separator) => {
    const counts = lines.map((line) => line.replace(/"[^"]*"/g, '').match(separator)?.length ?? 0);
    return (counts[0] ?? 0) >= least && counts.every((count) => count === counts[0]);
  });
}
