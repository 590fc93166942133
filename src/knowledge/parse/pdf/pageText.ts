import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { pageNotes, placeNotes } from './pageNotes.ts';
import type { TextItem } from './visibleText.ts';
import { findVisible } from './visibleText.ts';

/** A new line is this many points lower at least. */
const LINE_STEP = 4.6;
/** Distance in points from which texts of a line are cells. */
const CELL_GAP = 7;

/**
 * The text of a page that its readers see, line by line; what was typed into a form stands beside its label, and notes
 * after the text.
 */
export async function pageText(document: PDFDocumentProxy, page: PDFPageProxy): Promise<string> {
  const { items } = await page.getTextContent();
  const texts = await findVisible(
    document,
    page,
    items.filter((item): item is TextItem => 'str' in item),
  );
  const { beside, others } = placeNotes(await pageNotes(page), texts);
  let whole = '';
  let last: { readonly right: number; readonly y: number } | undefined;
  for (const item of texts) {
    const [x, y] = [item.transform[4], item.transform[5]];
    const isLower = last && Math.abs(last.y - y) > LINE_STEP;
    const isCell = last && !isLower && Math.abs(last.right - x) > CELL_GAP;
    if (isLower && item.str.trim() !== '' && !whole.endsWith('\n')) whole += '\n';
    const { before = '', after = '' } = beside.get(item) ?? {};
    whole += (isCell ? ' ' : '') + before + item.str + after;
    if (item.hasEOL) whole += '\n';
    last = { right: x + item.width, y };
  }
  return [whole, ...others].join('\n\n');
}
