import { type Block, type BlockReader, DocumentError } from '../block.ts';
import { MergedCells, TableLimits } from '../table.ts';
import {
  type Attributes,
  attribute,
  isOn,
  type OfficePackage,
  openOfficePackage,
  relationId,
  type XmlHandlers,
} from './officePackage.ts';

/** A size in English Metric Units. */
interface Size {
  readonly cx: number;
  readonly cy: number;
}

const TITLE_PLACEHOLDERS = new Set(['title', 'ctrTitle']);

/**
 * The slides that are shown, in presentation order: titles, texts, tables and speaker notes.
 *
 * @see ECMA-376 part 1, section 13.3.6 and 13.3.8
 */
export const readPptx: BlockReader = async function* ({ path }) {
  const office = await openOfficePackage(path, 'ppt/presentation.xml');
  const limits = new TableLimits();
  try {
    const { parts, size } = await slidesOf(office);
    for (const slide of parts) {
      if (await isHidden(office, slide)) continue;
      yield* shapesOf(office, slide, limits, size);
      const notes = (await office.relations(slide)).find(({ type }) => type === 'notesSlide');
      if (notes) yield* shapesOf(office, notes.target, limits);
    }
  } finally {
    office.close();
  }
};

async function slidesOf(office: OfficePackage): Promise<{ parts: ReadonlySet<string>; size: Size }> {
  const { main } = office;
  if (main === undefined)
    throw new DocumentError('The presentation is damaged: its list of slides is missing');
  const ids: string[] = [];
  let size: Size = { cx: Number.POSITIVE_INFINITY, cy: Number.POSITIVE_INFINITY };
  await office.read(main, {
    open(name, attributes) {
      if (name === 'sldSz') size = sizeOf(attributes);
      const id = relationId(attributes);
      if (name === 'sldId' && id !== undefined) ids.push(id);
      return true;
    },
  });
  const targets = new Map((await office.relations(main)).map(({ id, target }) => [id, target]));
  // Where the reference leads nowhere, the part has its usual name.
  const parts = ids.map((id, index) => targets.get(id) ?? `ppt/slides/slide${index + 1}.xml`);
  return { parts: new Set(parts), size };
}

async function isHidden(office: OfficePackage, slide: string): Promise<boolean> {
  let hidden = false;
  await office.read(slide, {
    open(name, attributes) {
      if (name === 'sld') hidden = !isOn(attributes, 'show');
      return false;
    },
  });
  return hidden;
}

function sizeOf(attributes: Attributes): Size {
  return { cx: Number(attribute(attributes, 'cx')), cy: Number(attribute(attributes, 'cy')) };
}

/** @param slide - The slide's size, outside of which a shape is not seen. */
function shapesOf(
  office: OfficePackage,
  part: string,
  limits: TableLimits,
  slide?: Size,
): AsyncGenerator<Block> {
  const text = new SlideText(limits, slide);
  return office.readItems(part, text, () => text.take());
}

/** Collects the texts of shapes and tables that are seen. */
class SlideText implements XmlHandlers {
  readonly #limits: TableLimits;
  readonly #slide: Size | undefined;
  #blocks: Block[] = [];
  #merged = new MergedCells();
  #isMergedBelow = false;
  #isMergedAbove = false;
  #cells: string[] = [];
  #text = '';
  #kind: Block['kind'] = 'paragraph';
  #isInText = false;
  #isHidden = false;
  /** How many groups are open; in a group, places are relative to the group. */
  #groups = 0;
  #place = { x: 0, y: 0 };

  constructor(limits: TableLimits, slide: Size | undefined) {
    this.#limits = limits;
    this.#slide = slide;
  }

  /** @returns The blocks that are complete. */
  take(): Block[] {
    const done = this.#blocks;
    this.#blocks = [];
    return done;
  }

  open(name: string, attributes: Attributes): boolean {
    this.#openShape(name, attributes);
    if (name === 't') this.#isInText = true;
    if (name === 'br' || name === 'tab') this.#text += ' ';
    if (name === 'tr') {
      this.#limits.countRow();
      this.#kind = 'row';
    }
    if (name === 'tbl') this.#merged = new MergedCells();
    if (name === 'tc') {
      this.#limits.countCell(this.#cells.length);
      this.#isMergedBelow = Number(attribute(attributes, 'rowSpan') ?? 1) > 1;
      this.#isMergedAbove = isOn(attributes, 'vMerge', false);
    }
    return true;
  }

  text(text: string): void {
    if (this.#isInText && !this.#isHidden) this.#text += text;
  }

  close(name: string): void {
    if (name === 't') this.#isInText = false;
    if (name === 'grpSp') this.#groups -= 1;
    if (name === 'p' && this.#kind === 'row') this.#text += ' ';
    else if (name === 'p') this.#end(this.#text);
    if (name === 'tc') this.#endCell(this.#cells.length, this.#text.trim());
    if (name === 'tr') this.#end(this.#cells.filter((cell) => cell !== '').join(' | '));
  }

  #endCell(column: number, text: string): void {
    this.#text = '';
    if (this.#isMergedBelow) this.#merged.begin(column, text);
    else if (!this.#isMergedAbove) this.#merged.end(column);
    this.#cells.push(this.#isMergedAbove ? (this.#merged.textAt(column) ?? text) : text);
  }

  #openShape(name: string, attributes: Attributes): void {
    const number = (attributeName: string) => Number(attribute(attributes, attributeName));
    if (name === 'grpSp') this.#groups += 1;
    if (name === 'sp' || name === 'graphicFrame') {
      this.#kind = 'paragraph';
      this.#isHidden = false;
    }
    if (name === 'cNvPr') this.#isHidden = isOn(attributes, 'hidden', false);
    if (name === 'ph' && TITLE_PLACEHOLDERS.has(attribute(attributes, 'type') ?? '')) this.#kind = 'heading';
    if (name === 'off') this.#place = { x: number('x'), y: number('y') };
    if (name === 'ext' && this.#slide && this.#groups === 0)
      this.#isHidden ||= isOutside(this.#place, sizeOf(attributes), this.#slide);
  }

  #end(text: string): void {
    if (text.trim() !== '') this.#blocks.push({ kind: this.#kind, text });
    this.#text = '';
    this.#cells = [];
    if (this.#kind === 'row') this.#kind = 'paragraph';
  }
}

function isOutside(place: { readonly x: number; readonly y: number }, size: Size, slide: Size): boolean {
  const isBefore = place.x + size.cx <= 0 || place.y + size.cy <= 0;
  return isBefore || place.x >= slide.cx || place.y >= slide.cy;
}
