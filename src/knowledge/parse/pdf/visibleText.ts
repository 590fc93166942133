import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { normalizeUnicode, OPS, Util } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** Text that is neither filled nor stroked. @see ISO 32000-1 table 106 */
const INVISIBLE_MODE = 3;
/** The smallest legible font size in points. */
const MIN_FONT_SIZE = 0.5;
const WHITE = '#ffffff';
/** White space and format characters, which the text of a page has in other places than its operators. */
const UNCOUNTED = /[\s\p{Cf}\p{Cc}]/gu;

type PageItem = Awaited<ReturnType<PDFPageProxy['getTextContent']>>['items'][number];
/** Characters that a page draws at one place. */
export type TextItem = Extract<PageItem, { readonly str: string }>;

type Matrix = readonly number[];
/** The left, bottom, right and top edges in points. */
type Rectangle = readonly [number, number, number, number];

interface GraphicsState {
  readonly matrix: Matrix;
  readonly renderMode: number;
  readonly color: string;
  readonly opacity: number;
}

/** The way in which a run of characters was drawn. */
type Look = 'visible' | 'hidden' | 'withoutInk';

interface PageLook {
  /** The look of each character but white space, in the order of the page's operators, which is that of its text. */
  readonly looks: readonly Look[];
  /** The areas of the page's images. */
  readonly images: readonly Rectangle[];
}

/**
 * Leaves out what readers of the page do not see: text off the page, smaller than half a point, transparent, on a layer
 * that is off, white on a page where nothing was painted before it, or drawn without ink (render mode 3). The last is how
 * OCR puts its text under a scan: it is kept where an image is.
 */
export async function findVisible(
  document: PDFDocumentProxy,
  page: PDFPageProxy,
  texts: readonly TextItem[],
): Promise<TextItem[]> {
  const { looks, images } = await lookOf(document, page);
  let at = 0;
  return texts.filter(({ str, transform }) => {
    const length = str.replace(UNCOUNTED, '').length;
    const own = looks.slice(at, at + length);
    at += length;
    const [x, y] = [transform[4], transform[5]];
    const isIn = ([left, bottom, right, top]: Rectangle) =>
      x >= left && x <= right && y >= bottom && y <= top;
    if (!isIn(page.view as unknown as Rectangle)) return false;
    if (Math.hypot(transform[2], transform[3]) < MIN_FONT_SIZE) return false;
    const count = (look: Look) => own.filter((one) => one === look).length;
    if (count('hidden') > length / 2) return false;
    return count('withoutInk') <= length / 2 || images.some(isIn);
  });
}

async function lookOf(document: PDFDocumentProxy, page: PDFPageProxy): Promise<PageLook> {
  // Annotations are read apart.
  const { fnArray, argsArray } = await page.getOperatorList({ annotationMode: 0 });
  const layers = await document.getOptionalContentConfig();
  const content = new PageContent((layer) => layers.isVisible(layer));
  for (const [index, operator] of fnArray.entries()) content.apply(operator, argsArray[index] ?? []);
  content.end();
  return content;
}

/** Follows the operators of a page. @see ISO 32000-1 section 8.4 */
class PageContent implements PageLook {
  readonly looks: Look[] = [];
  readonly images: Rectangle[] = [];
  readonly #isLayerOn: (layer: unknown) => boolean;
  readonly #saved: GraphicsState[] = [];
  #state: GraphicsState = { matrix: [1, 0, 0, 1, 0, 0], renderMode: 0, color: '#000000', opacity: 1 };
  /** Whether each marked content that is open is shown. */
  readonly #marked: boolean[] = [];
  #hasPaint = false;
  #isMatrixUnused = false;

  constructor(isLayerOn: (layer: unknown) => boolean) {
    this.#isLayerOn = isLayerOn;
  }

  apply(operator: number, args: readonly unknown[]): void {
    switch (operator) {
      case OPS.save:
        this.#save();
        break;
      case OPS.restore:
      case OPS.paintFormXObjectEnd:
        this.#restore();
        break;
      case OPS.transform:
        this.#transform(args as Matrix);
        this.#isMatrixUnused = true;
        break;
      case OPS.paintFormXObjectBegin:
        this.#save();
        if (args[0]) this.#transform(args[0] as Matrix);
        break;
      case OPS.beginText:
        this.end();
        break;
      case OPS.beginMarkedContent:
        this.#marked.push(true);
        break;
      case OPS.beginMarkedContentProps:
        this.#marked.push(args[0] !== 'OC' || this.#isLayerOn(args[1]));
        break;
      case OPS.endMarkedContent:
        this.#marked.pop();
        break;
      case OPS.showText:
        this.looks.push(...Array<Look>(lengthOf(args[0] as unknown[])).fill(this.#look()));
        break;
      case OPS.constructPath:
        // Another path only clips what follows.
        if (args[0] !== OPS.endPath) this.#paint();
        break;
      case OPS.shadingFill:
        this.#paint();
        break;
      default:
        this.#state = withInk(this.#state, operator, args);
    }
  }

  /** Images are not decoded, and leave no operator: only a transformation of the unit square that nothing uses. */
  end(): void {
    if (this.#isMatrixUnused) this.images.push(boundsOf(this.#state.matrix));
    this.#isMatrixUnused = false;
  }

  #look(): Look {
    const { renderMode, color, opacity } = this.#state;
    if (renderMode === INVISIBLE_MODE) return 'withoutInk';
    const isWhiteOnPaper = color === WHITE && !this.#hasPaint && this.images.length === 0;
    return opacity === 0 || isWhiteOnPaper || this.#marked.includes(false) ? 'hidden' : 'visible';
  }

  #save(): void {
    this.end();
    this.#saved.push(this.#state);
  }

  #restore(): void {
    this.end();
    this.#state = this.#saved.pop() ?? this.#state;
  }

  #transform(matrix: Matrix): void {
    this.#state = { ...this.#state, matrix: Util.transform([...this.#state.matrix], [...matrix]) };
  }

  #paint(): void {
    this.#hasPaint = true;
    this.#isMatrixUnused = false;
  }
}

function withInk(state: GraphicsState, operator: number, args: readonly unknown[]): GraphicsState {
  switch (operator) {
    case OPS.setTextRenderingMode:
      return { ...state, renderMode: Number(args[0]) };
    case OPS.setFillRGBColor:
      return { ...state, color: String(args[0]) };
    case OPS.setFillColorN:
      // A pattern.
      return { ...state, color: '' };
    case OPS.setGState: {
      const opacity = (args[0] as [string, unknown][]).find(([key]) => key === 'ca')?.[1];
      return opacity === undefined ? state : { ...state, opacity: Number(opacity) };
    }
    default:
      return state;
  }
}

function lengthOf(glyphs: readonly unknown[]): number {
  const text = glyphs.map((glyph) => (glyph as { unicode?: string } | null)?.unicode ?? '').join('');
  return normalizeUnicode(text).replace(UNCOUNTED, '').length;
}

function boundsOf([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix): Rectangle {
  const [xs, ys] = [
    [e, e + a, e + c, e + a + c],
    [f, f + b, f + d, f + b + d],
  ];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
