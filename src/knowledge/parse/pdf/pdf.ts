import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PDFParse, VerbosityLevel } from 'pdf-parse';
import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

import { type Block, type BlockReader, DocumentError } from '../block.ts';
import { pageText } from './pageText.ts';

const MAX_PAGES = 10_000;
/** Share of the longest line's length from which a line continues its paragraph. */
const FULL_LINE_SHARE = 0.7;
const SENTENCE_END = /[.!?:;。！？：；…]["'”’)\]]*$/;
const BROKEN_WORD = /(\p{L})-$/u;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u;

/** The texts of pdf-parse do not tell what a reader sees; the document of PDF.js that it opens does. */
const OPEN = 'load';
const OPTIONS = {
  isEvalSupported: false,
  verbosity: VerbosityLevel.ERRORS,
  // Images are not decoded: that takes most of the time of a scan.
  maxImageSize: 0,
  /**
   * Predefined character maps of Chinese, Japanese and Korean, which most PDFs of these languages refer to: without them
   * such pages have no text.
   *
   * @see ISO 32000-1 section 9.7.5.2
   */
  cMapUrl: join(dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')), 'cmaps/'),
  cMapPacked: true,
} as const;

/** Page by page, with the lines of a paragraph joined. */
export const readPdf: BlockReader = async function* ({ path }) {
  const parser = new PDFParse({ data: new Uint8Array(await readFile(path)), ...OPTIONS });
  try {
    const document = await opened(parser[OPEN]());
    let found = 0;
    for (let number = 1; number <= document.numPages; number += 1) {
      for (const block of reflow(await textOf(document, number))) {
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

async function opened(loading: Promise<PDFDocumentProxy>): Promise<PDFDocumentProxy> {
  let document: PDFDocumentProxy;
  try {
    document = await loading;
  } catch (error) {
    if ((error as Error).name === 'PasswordException') {
      throw new DocumentError('The PDF is protected by a password; save it without one', { cause: error });
    }
    throw new DocumentError('The PDF is damaged or cut off and cannot be read', { cause: error });
  }
  if (document.numPages > MAX_PAGES)
    throw new DocumentError(`The PDF has more than ${MAX_PAGES} pages; split it`);
  const { info } = await document.getMetadata();
  const { IsXFAPresent: hasXfa, IsAcroFormPresent: hasFields } = info as Record<string, unknown>;
  if (hasXfa && !hasFields)
    throw new DocumentError(
      'The PDF is an XFA form, whose pages are not in the file; print it to a PDF first',
    );
  return document;
}

async function textOf(document: PDFDocumentProxy, number: number): Promise<string> {
  try {
    const page = await document.getPage(number);
    const text = await pageText(document, page);
    page.cleanup();
    return text;
  } catch (error) {
    throw new DocumentError(`Page ${number} of the PDF is damaged and cannot be read`, { cause: error });
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
