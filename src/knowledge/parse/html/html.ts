import { Parser } from 'htmlparser2';

import { type Block, type BlockReader, DocumentError } from '../block.ts';
import { cutPoint, MAX_BLOCK_CHARACTERS } from '../clean.ts';
import { MergedCells, TableLimits } from '../table.ts';
import { readText } from '../textStream.ts';
import { parseStyleSheet } from './styleSheet.ts';
import { ElementVisibility } from './visibility.ts';

/** Elements whose content is not part of the text. */
const SKIPPED = new Set(
  'script style noscript template svg math iframe object canvas audio video select button textarea'.split(
    ' ',
  ),
);
const HEADINGS = new Set('title h1 h2 h3 h4 h5 h6'.split(' '));
/** @see HTML, "phrasing content" */
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
/** The parser's time grows with the square of the depth. */
const MAX_DEPTH = 10_000;
const CELLS = new Set(['td', 'th']);
/** @see HTML, "algorithm for processing rows" */
const MAX_COLUMN_SPAN = 1_000;
const MAX_STYLE_CHARACTERS = 1_048_576;

export const readHtml: BlockReader = ({ path }) => htmlBlocks(() => readText(path, declaredEncoding));

/**
 * Converts markup to blocks, without what its readers do not see.
 *
 * @param open - Opens the markup; called twice, since a style sheet may come after what it hides.
 */
export async function* htmlBlocks(open: () => AsyncIterable<string>): AsyncGenerator<Block> {
  const collected = await collectStyles(open());
  const text = new HtmlText(new ElementVisibility(parseStyleSheet(collected.css), !collected.hasOthers));
  const parser = new Parser(text, { decodeEntities: true, lowerCaseTags: true, recognizeSelfClosing: false });
  for await (const piece of open()) {
    parser.write(piece);
    yield* text.take();
  }
  parser.end();
  yield* text.end();
}

interface Styles {
  readonly css: string;
  /** Whether the page also has style sheets in other files. */
  readonly hasOthers: boolean;
}

async function collectStyles(markup: AsyncIterable<string>): Promise<Styles> {
  let css = '';
  let hasOthers = false;
  let isInStyle = false;
  let depth = 0;
  const parser = new Parser({
    onopentag(name, { rel = '', media = '' }) {
      depth = deeper(depth);
      isInStyle = name === 'style' && !/print/i.test(media);
      if (name === 'link' && /stylesheet/i.test(rel)) hasOthers = true;
    },
    ontext(piece) {
      if (isInStyle && css.length < MAX_STYLE_CHARACTERS) css += piece;
    },
    onclosetag() {
      depth -= 1;
      isInStyle = false;
    },
  });
  for await (const piece of markup) parser.write(piece);
  parser.end();
  return { css, hasOthers: hasOthers || /@import/i.test(css) };
}

interface Cell {
  readonly text: string;
  readonly rows: number;
  readonly columns: number;
}

class HtmlText {
  readonly #visibility: ElementVisibility;
  readonly #limits = new TableLimits();
  #blocks: Block[] = [];
  /** The cells of the open row. */
  #cells: Cell[] = [];
  #merged = new MergedCells();
  #rowSpan = 1;
  #columnSpan = 1;
  #text = '';
  #kind: Block['kind'] = 'paragraph';
  #skipping = 0;
  #preformatted = 0;
  #depth = 0;
  #column = 0;

  constructor(visibility: ElementVisibility) {
    this.#visibility = visibility;
  }

  take(): Block[] {
    const done = this.#blocks;
    this.#blocks = [];
    return done;
  }

  end(): Block[] {
    this.#finish();
    return this.take();
  }

  onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth = deeper(this.#depth);
    this.#visibility.open(name, attributes);
    if (SKIPPED.has(name)) this.#skipping += 1;
    if (name === 'pre') this.#preformatted += 1;
    if (name === 'br') this.#text += '\n';
    if (name === 'table') this.#merged = new MergedCells();
    if (CELLS.has(name)) this.#startCell(attributes);
    if (INLINE.has(name) || CELLS.has(name) || name === 'br') return;
    this.#finish();
    if (HEADINGS.has(name)) this.#kind = 'heading';
    if (name === 'tr' || name === 'li') this.#kind = 'row';
    if (name !== 'tr') return;
    this.#limits.countRow();
    this.#column = 0;
  }

  onclosetag(name: string): void {
    this.#depth -= 1;
    this.#visibility.close();
    if (SKIPPED.has(name)) this.#skipping = Math.max(0, this.#skipping - 1);
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted - 1);
    if (CELLS.has(name)) this.#endCell();
    if (name === 'tr') this.#repeatMerged();
    if (!INLINE.has(name) && !CELLS.has(name) && name !== 'br') this.#finish();
  }

  ontext(piece: string): void {
    if (this.#skipping > 0 || !this.#visibility.isVisible) return;
    this.#text += this.#preformatted > 0 ? piece : piece.replace(/\s+/g, ' ');
    while (this.#text.length > MAX_BLOCK_CHARACTERS) {
      const cut = cutPoint(this.#text, MAX_BLOCK_CHARACTERS);
      const rest = this.#text.slice(cut);
      this.#text = this.#text.slice(0, cut);
      this.#finish();
      this.#text = rest;
    }
  }

  #startCell({ rowspan = '1', colspan = '1' }: Readonly<Record<string, string>>): void {
    this.#limits.countCell(this.#column++);
    this.#rowSpan = Number(rowspan) || 1;
    this.#columnSpan = Math.min(Number(colspan) || 1, MAX_COLUMN_SPAN);
  }

  #endCell(): void {
    this.#cells.push({ text: this.#text.trim(), rows: this.#rowSpan, columns: this.#columnSpan });
    this.#text = '';
  }

  /** A row that blocks in its cells have cut into pieces repeats nothing. */
  #repeatMerged(): void {
    if (this.#cells.length !== this.#column) {
      this.#merged = new MergedCells();
      return;
    }
    const whole: Cell[] = [];
    const begun = new Set<number>();
    let column = 0;
    const repeat = () => {
      for (let text = this.#merged.textAt(column); text !== undefined; text = this.#merged.textAt(++column)) {
        this.#limits.countCell(column);
        whole.push({ text, rows: 1, columns: 1 });
      }
    };
    for (const cell of this.#cells) {
      repeat();
      whole.push(cell);
      for (let n = 0; n < cell.columns; n += 1, column += 1) {
        if (cell.rows === 1) continue;
        this.#limits.countCell(column);
        this.#merged.begin(column, n === 0 ? cell.text : '', cell.rows);
        begun.add(column);
      }
    }
    repeat();
    this.#merged.endRow(begun);
    this.#cells = whole;
  }

  #finish(): void {
    const whole =
      this.#cells.length === 0
        ? this.#text
        : [...this.#cells.map(({ text }) => text), this.#text.trim()]
            .filter((cell) => cell !== '')
            .join(' | ');
    const kind = this.#kind;
    this.#cells = [];
    this.#text = '';
    this.#kind = 'paragraph';
    if (whole.trim() !== '') this.#blocks.push({ kind, text: whole });
  }
}

function deeper(depth: number): number {
  if (depth >= MAX_DEPTH) throw new DocumentError(`The page is nested more than ${MAX_DEPTH} levels deep`);
  return depth + 1;
}

/** @see HTML, "determining the character encoding" */
function declaredEncoding(head: string): string | undefined {
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]+)/i.exec(head.slice(0, 4096))?.[1];
}
