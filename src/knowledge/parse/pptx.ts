import { posix } from 'node:path';
import { Parser } from 'htmlparser2';

import { type Archive, openArchive } from './archive.ts';
import { type Block, type BlockReader, DocumentError } from './block.ts';

const PRESENTATION = 'ppt/presentation.xml';
const TITLE_PLACEHOLDERS = new Set(['title', 'ctrTitle']);

/**
 * The slides in presentation order: titles, texts, tables and speaker notes.
 *
 * @see ECMA-376 part 1, section 13.3.6 and 13.3.8
 */
export const readPptx: BlockReader = async function* ({ path }) {
  const archive = await openArchive(path);
  try {
    for (const slide of await slidesOf(archive)) {
      yield* shapesOf((await archive.read(slide)) ?? '');
      const notes = (await relationsOf(archive, slide)).find(({ type }) => type.endsWith('/notesSlide'));
      if (notes) yield* shapesOf((await archive.read(notes.target)) ?? '');
    }
  } finally {
    archive.close();
  }
};

interface Relation {
  readonly id: string;
  readonly type: string;
  readonly target: string;
}

async function slidesOf(archive: Archive): Promise<string[]> {
  const presentation = await archive.read(PRESENTATION);
  if (presentation === undefined)
    throw new DocumentError('The presentation is damaged: its list of slides is missing');
  const ids: string[] = [];
  readXml(presentation, {
    onopentag: (name, attributes) => {
      if (name === 'p:sldId' && attributes['r:id']) ids.push(attributes['r:id']);
    },
  });
  const relations = new Map((await relationsOf(archive, PRESENTATION)).map(({ id, target }) => [id, target]));
  return ids.flatMap((id) => relations.get(id) ?? []);
}

async function relationsOf(archive: Archive, part: string): Promise<Relation[]> {
  const folder = posix.dirname(part);
  const markup = (await archive.read(`${folder}/_rels/${posix.basename(part)}.rels`)) ?? '';
  const relations: Relation[] = [];
  readXml(markup, {
    onopentag: (name, { Id: id, Type: type, Target: target }) => {
      if (name !== 'Relationship' || !id || !type || !target) return;
      const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
      relations.push({ id, type, target: path });
    },
  });
  return relations;
}

function shapesOf(markup: string): Block[] {
  const blocks: Block[] = [];
  let text = '';
  let inRun = false;
  let kind: Block['kind'] = 'paragraph';
  readXml(markup, {
    onopentag(name, attributes) {
      if (name === 'p:sp') kind = 'paragraph';
      if (name === 'p:ph' && TITLE_PLACEHOLDERS.has(attributes.type ?? '')) kind = 'heading';
      if (name === 'a:t') inRun = true;
      if (name === 'a:br' || name === 'a:tab') text += ' ';
      if (name === 'a:tr') kind = 'row';
    },
    ontext(piece) {
      if (inRun) text += piece;
    },
    onclosetag(name) {
      if (name === 'a:t') inRun = false;
      if (name === 'a:tc') text += ' | ';
      const isEnd = kind === 'row' ? name === 'a:tr' : name === 'a:p';
      if (!isEnd) return;
      const whole = text.replace(/(?: \| )+$/, '');
      text = '';
      if (whole.trim() !== '') blocks.push({ kind, text: whole });
      if (name === 'a:tr') kind = 'paragraph';
    },
  });
  return blocks;
}

interface XmlHandlers {
  onopentag?(name: string, attributes: Record<string, string>): void;
  ontext?(text: string): void;
  onclosetag?(name: string): void;
}

function readXml(markup: string, handlers: XmlHandlers): void {
  const parser = new Parser(handlers, { xmlMode: true, decodeEntities: true });
  parser.write(markup);
  parser.end();
}
