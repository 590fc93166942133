import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PasswordException, PDFParse } from 'pdf-parse';

import { type Block, type BlockReader, DocumentError } from './block.ts';

const MAX_PAGES = 10_000;
/** Share of the longest line's length from which a line continues its paragraph. */
const FULL_LINE_SHARE = 0.7;
const SENTENCE_END = /[.!?:;。！？：；…]["'”’)\]]*$/;
const BROKEN_WORD = /(\p{L})-$/u;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u;

/**
 * Predefined character maps of Chinese, Japanese and Korean, which most PDFs of these languages refer to: without them
 * such pages have no text. pdfjs-dist, which the parser uses, ships them.
 *
 * @see ISO 32000-1 section 9.7.5.2
 */
const CHARACTER_MAPS = {
  cMapUrl: join(
    dirname(createRequire(import.meta.resolve('pdf-parse')).resolve('pdfjs-dist/package.json')),
    'cmaps/',
  ),
  cMapPacked: true,
} as const;

/** Page by page, with the lines of a paragraph joined. */
export const readPdf: BlockReader = async function* ({ path }) {
  const data = new Uint8Array(await readFile(path));
  const parser = new PDFParse({ data, isEvalSupported: false, ...CHARACTER_MAPS });
  try {
    const pages = await pageCount(parser);
    let found = 0;
    for (let page = 1; page <= pages; page += 1) {
      for (const block of reflow(await pageText(parser, page))) {
        found += 1;
        yield block;
      }
    }
    if (found === 0) {
      throw new DocumentError(
        'The PDF holds no text, perhaps because its pages are pictures; make them text by OCR first',
      );
    }
  } finally {
    await parser.destroy();
  }
};

async function pageCount(parser: PDFParse): Promise<number> {
  let total: number;
  try {
    ({ total } = await parser.getInfo());
  } catch (error) {
    if (error instanceof PasswordException || (error as Error).name === 'PasswordException') {
      throw new DocumentError('The PDF is protected by a password; save it without one', { cause: error });
    }
    throw new DocumentError('The PDF is damaged or cut off and cannot be read', { cause: error });
  }
  if (total > MAX_PAGES) throw new DocumentError(`The PDF has more than ${MAX_PAGES} pages; split it`);
  return total;
}

async function pageText(parser: PDFParse, page: number): Promise<string> {
  try {
    const { pages } = await parser.getText({ partial: [page], pageJoiner: '' });
    return pages[0]?.text ?? '';
  } catch (error) {
    throw new DocumentError(`Page ${page} of the PDF is damaged and cannot be read`, { cause: error });
  }
}

/** Joins lines to paragraphs: a full line that does not end a sentence continues on the next one. */
export function reflow(page: string): Block[] {
  const lines = page.split('\n').map((line) => line.trim());
  const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
  const paragraphs: string[] = [];
  let open = '';
  for (const line of lines) {
    if (line === '') {
      if (open !== '') paragraphs.push(open);
      open = '';
      continue;
    }
    open = open === '' ? line : joined(open, line);
    const isFull = line.length >= longest * FULL_LINE_SHARE;
    if (!isFull || (SENTENCE_END.test(line) && line.length < longest * 0.95)) {
      paragraphs.push(open);
      open = '';
    }
  }
  if (open !== '') paragraphs.push(open);
  return paragraphs.map((text) => ({ kind: 'paragraph', text }));
}

function joined(text: string, line: string): string {
  if (BROKEN_WORD.test(text) && /^\p{Ll}/u.test(line)) return text.slice(0, -1) + line;
  return WIDE.test(text) ? text + line : `${text} ${line}`;
}
