import { type Block, type BlockReader, DocumentError } from '../block.ts';
import { TableLimits } from '../table.ts';
import {
  attribute,
  isOn,
  type OfficePackage,
  openOfficePackage,
  relationId,
  type XmlHandlers,
} from './officePackage.ts';

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
    for (const slide of await slidesOf(office)) {
      if (await isHidden(office, slide)) continue;
      yield* shapesOf(office, slide, limits);
      const notes = (await office.relations(slide)).find(({ type }) => type === 'notesSlide');
      if (notes) yield* shapesOf(office, notes.target, limits);
    }
  } finally {
    office.close();
  }
};

async function slidesOf(office: OfficePackage): Promise<Set<string>> {
  const { main } = office;
  if (main === undefined)
    throw new DocumentError('The presentation is damaged: its list of slides is missing');
  const ids: string[] = [];
  await office.read(main, {
    open(name, attributes) {
      const id = relationId(attributes);
      if (name === 'sldId' && id !== undefined) ids.push(id);
      return true;
    },
  });
  const targets = new Map((await office.relations(main)).map(({ id, target }) => [id, target]));
  return new Set(ids.flatMap((id) => targets.get(id) ?? []));
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

function shapesOf(office: OfficePackage, part: string, limits: TableLimits): AsyncGenerator<Block> {
  let blocks: Block[] = [];
  let text = '';
  let inRun = false;
  let isHiddenShape = false;
  let kind: Block['kind'] = 'paragraph';
  let column = 0;
  const handlers: XmlHandlers = {
    open(name, attributes) {
      if (name === 'sp' || name === 'graphicFrame') kind = 'paragraph';
      if (name === 'cNvPr') isHiddenShape = isOn(attributes, 'hidden', false);
      if (name === 'ph' && TITLE_PLACEHOLDERS.has(attribute(attributes, 'type') ?? '')) kind = 'heading';
      if (name === 't') inRun = true;
      if (name === 'br' || name === 'tab') text += ' ';
      if (name === 'tr') {
        limits.countRow();
        kind = 'row';
        column = 0;
      }
      if (name === 'tc') {
        limits.countCell(column);
        column += 1;
      }
      return true;
    },
    text(piece) {
      if (inRun && !isHiddenShape) text += piece;
    },
    close(name) {
      if (name === 't') inRun = false;
      if (name === 'tc') text += ' | ';
      const isEnd = kind === 'row' ? name === 'tr' : name === 'p';
      if (!isEnd) return;
      const whole = text
        .split(' | ')
        .filter((cell) => cell.trim() !== '')
        .join(' | ');
      text = '';
      if (whole !== '') blocks.push({ kind, text: whole });
      if (name === 'tr') kind = 'paragraph';
    },
  };
  return office.readItems(part, handlers, () => {
    const done = blocks;
    blocks = [];
    return done;
  });
}
