import type { Block } from '../block.ts';
import { MergedCells, TableLimits } from '../table.ts';
import { type Attributes, attribute, isOn, relationId, type XmlHandlers } from './officePackage.ts';
import type { WordStyles } from './wordStyles.ts';

/** Deleted and moved text of tracked changes, earlier formats, and codes of fields. */
const LEFT_OUT = new Set(
  'del moveFrom delText instrText rPrChange pPrChange tblPrChange tcPrChange sectPrChange'.split(' '),
);
const WHITE = /^f{6}$/i;
/** The smallest legible font size in half points: one point cannot be read. */
const MIN_FONT_SIZE = 3;

interface Paragraph {
  text: string;
  kind: Block['kind'];
  isHidden: boolean;
  isShaded: boolean;
}

interface Run {
  isHidden: boolean;
  isWhite: boolean;
  isShaded: boolean;
}

interface Cell {
  readonly blocks: Block[];
  columns: number;
  /** Whether the cell is merged with the cells below, or with the one above. */
  merge?: 'below' | 'above';
}

interface Row {
  readonly cells: Cell[];
  isHidden: boolean;
}

/** References of a section to its page headers and footers. */
interface Section {
  readonly parts: { readonly type: string; readonly id: string }[];
  hasFirstPage: boolean;
}

/**
 * Collects what a reader of a WordprocessingML part sees: without hidden and deleted text, and without white text where
 * nothing says that its background is another.
 *
 * @see ECMA-376 part 1, section 17
 */
export class WordText implements XmlHandlers {
  readonly #styles: WordStyles;
  readonly #limits = new TableLimits();
  /** Open ones; a text box has paragraphs within a paragraph. */
  readonly #paragraphs: Paragraph[] = [];
  /** The open rows of the nested tables, outermost first. */
  readonly #rows: Row[] = [];
  readonly #merged: MergedCells[] = [];
  readonly #sections: Section[] = [];
  /** Names of the elements with properties that are open. */
  readonly #properties: string[] = [];
  #blocks: Block[] = [];
  #run: Run = plainRun();
  #isInText = false;
  #isHiddenDrawing = false;
  #isOnPaper = true;

  constructor(styles: WordStyles) {
    this.#styles = styles;
  }

  /** @returns The blocks that are complete. */
  take(): Block[] {
    const done = this.#blocks;
    this.#blocks = [];
    return done;
  }

  /** @returns Ids of the relations to headers and footers that pages show. */
  pageParts(hasEvenPages: boolean): string[] {
    return this.#sections.flatMap(({ parts, hasFirstPage }) =>
      parts
        .filter(({ type }) => (type === 'first' ? hasFirstPage : type === 'even' ? hasEvenPages : true))
        .map(({ id }) => id),
    );
  }

  open(name: string, attributes: Attributes): boolean {
    if (name === 'del' && this.#properties.at(-1) === 'trPr') this.#hideRow();
    if (LEFT_OUT.has(name) || isSeparator(name, attributes)) return false;
    if (name === 'docPr') this.#isHiddenDrawing = isOn(attributes, 'hidden', false);
    if (name === 'background') this.#isOnPaper = WHITE.test(attribute(attributes, 'color') ?? 'ffffff');
    if (name === 'sectPr') this.#sections.push({ parts: [], hasFirstPage: false });
    if (name.endsWith('Pr')) this.#properties.push(name);
    else if (this.#properties.length > 0) this.#readProperty(name, attributes);
    else this.#startElement(name);
    return true;
  }

  text(text: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph && this.#isInText && this.#isVisible(paragraph)) paragraph.text += text;
  }

  close(name: string): void {
    if (name === this.#properties.at(-1)) this.#properties.pop();
    if (name === 't') this.#isInText = false;
    if (name === 'drawing') this.#isHiddenDrawing = false;
    if (name === 'p') this.#endParagraph();
    if (name === 'tr') this.#endRow();
    if (name === 'tbl') this.#merged.pop();
  }

  #startElement(name: string): void {
    const paragraph = this.#paragraphs.at(-1);
    const isHidden = paragraph?.isHidden ?? false;
    switch (name) {
      case 'p':
        this.#paragraphs.push({ text: '', kind: 'paragraph', isHidden: false, isShaded: false });
        break;
      case 'r':
        this.#run = { ...plainRun(), isHidden };
        break;
      case 't':
        this.#isInText = true;
        break;
      case 'tab':
      case 'ptab':
        if (paragraph) paragraph.text += ' ';
        break;
      case 'br':
      case 'cr':
        if (paragraph) paragraph.text += '\n';
        break;
      case 'noBreakHyphen':
        if (paragraph && this.#isVisible(paragraph)) paragraph.text += '-';
        break;
      case 'tbl':
        this.#merged.push(new MergedCells());
        break;
      case 'tr':
        this.#limits.countRow();
        this.#rows.push({ cells: [], isHidden: false });
        break;
      case 'tc': {
        const cells = this.#rows.at(-1)?.cells;
        this.#limits.countCell(cells?.length ?? 0);
        cells?.push({ blocks: [], columns: 1 });
        break;
      }
    }
  }

  #readProperty(name: string, attributes: Attributes): void {
    const value = attribute(attributes, 'val') ?? '';
    const owner = this.#properties[0];
    const paragraph = this.#paragraphs.at(-1);
    if (owner === 'sectPr' || this.#properties.includes('sectPr')) this.#readSection(name, attributes);
    else if (owner === 'trPr' && name === 'hidden' && isOn(attributes)) this.#hideRow();
    else if (owner === 'tcPr') this.#readCell(name, value);
    else if (owner === 'rPr') readRunProperty(this.#run, name, value, attributes, this.#styles);
    else if (owner === 'pPr' && paragraph && !this.#properties.includes('rPr'))
      readParagraphProperty(paragraph, name, value, attributes, this.#styles);
  }

  #readCell(name: string, value: string): void {
    const cell = this.#rows.at(-1)?.cells.at(-1);
    if (!cell) return;
    if (name === 'gridSpan' && Number(value) > 0) cell.columns = Number(value);
    if (name === 'vMerge') cell.merge = value === 'restart' ? 'below' : 'above';
  }

  #readSection(name: string, attributes: Attributes): void {
    const section = this.#sections.at(-1);
    if (name === 'titlePg' && section) section.hasFirstPage = isOn(attributes);
    const id = relationId(attributes);
    if (id === undefined || !(name === 'headerReference' || name === 'footerReference')) return;
    section?.parts.push({ type: attribute(attributes, 'type') ?? 'default', id });
  }

  #isVisible(paragraph: Paragraph): boolean {
    const { isHidden, isWhite, isShaded } = this.#run;
    // The style of a table or text box may have made the background dark.
    const isOnWhite = this.#isOnPaper && this.#rows.length === 0 && this.#paragraphs.length === 1;
    const isUnseen = isWhite && !isShaded && !paragraph.isShaded && isOnWhite;
    return !isHidden && !isUnseen && !this.#isHiddenDrawing;
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (!paragraph || paragraph.text.trim() === '') return;
    this.#add({ kind: paragraph.kind, text: paragraph.text });
  }

  /** A row of one cell is a frame around its blocks. */
  #endRow(): void {
    const row = this.#rows.pop();
    if (!row || row.isHidden) return;
    const filled = row.cells.filter(({ blocks }) => blocks.length > 0);
    const texts = this.#cellTexts(row).filter((text) => text !== '');
    if (texts.length > 1) this.#add({ kind: 'row', text: texts.join(' | ') });
    else for (const block of filled[0]?.blocks ?? []) this.#add(block);
  }

  #cellTexts({ cells }: Row): string[] {
    const merged = this.#merged.at(-1);
    let column = 0;
    return cells.map(({ blocks, columns, merge }) => {
      const text = blocks.map((block) => block.text).join(' ');
      const above = merge === 'above' ? merged?.textAt(column) : undefined;
      if (merge === 'below') merged?.begin(column, text);
      if (merge === undefined) merged?.end(column);
      column += columns;
      return above ?? text;
    });
  }

  #add(block: Block): void {
    const cell = this.#rows.at(-1)?.cells.at(-1);
    if (cell) cell.blocks.push(block);
    else this.#blocks.push(block);
  }

  #hideRow(): void {
    const row = this.#rows.at(-1);
    if (row) row.isHidden = true;
  }
}

function plainRun(): Run {
  return { isHidden: false, isWhite: false, isShaded: false };
}

/** Notes that are the line above the notes. */
function isSeparator(name: string, attributes: Attributes): boolean {
  const type = attribute(attributes, 'type') ?? 'normal';
  return (name === 'footnote' || name === 'endnote') && type !== 'normal';
}

function readRunProperty(
  run: Run,
  name: string,
  value: string,
  attributes: Attributes,
  styles: WordStyles,
): void {
  if (name === 'rStyle' && styles(value).isHidden) run.isHidden = true;
  if (name === 'vanish') run.isHidden = isOn(attributes);
  if (name === 'sz' && Number(value) < MIN_FONT_SIZE) run.isHidden = true;
  if (name === 'color') run.isWhite = WHITE.test(value);
  if (name === 'highlight' || isShade(name, attributes)) run.isShaded = true;
}

function readParagraphProperty(
  paragraph: Paragraph,
  name: string,
  value: string,
  attributes: Attributes,
  styles: WordStyles,
): void {
  if (name === 'pStyle') {
    const { isHeading, isListItem, isHidden } = styles(value);
    paragraph.kind = isHeading ? 'heading' : isListItem ? 'row' : 'paragraph';
    paragraph.isHidden = isHidden;
  }
  if (name === 'outlineLvl' && Number(value) < 9) paragraph.kind = 'heading';
  if (name === 'numId' && paragraph.kind !== 'heading') paragraph.kind = value === '0' ? 'paragraph' : 'row';
  if (isShade(name, attributes)) paragraph.isShaded = true;
}

function isShade(name: string, attributes: Attributes): boolean {
  const fill = attribute(attributes, 'fill') ?? 'auto';
  return name === 'shd' && fill !== 'auto' && !WHITE.test(fill);
}
