import { Parser } from 'htmlparser2';

import { type Block, type BlockReader, DocumentError } from './block.ts';
import { cutPoint, MAX_BLOCK_CHARACTERS } from './clean.ts';
import { readText } from './textStream.ts';

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

/** Converts streamed markup to blocks. */
export interface HtmlBlocks {
  write(markup: string): Block[];
  end(): Block[];
}

export const readHtml: BlockReader = async function* ({ path }) {
  const html = createHtmlBlocks();
  for await (const piece of readText(path, declaredEncoding)) yield* html.write(piece);
  yield* html.end();
};

export function createHtmlBlocks(): HtmlBlocks {
  let blocks: Block[] = [];
  let text = '';
  let kind: Block['kind'] = 'paragraph';
  let skipping = 0;
  let preformatted = 0;
  let depth = 0;

  const finish = () => {
    const whole = text.replace(/(?: \| )+$/, '');
    text = '';
    if (whole.trim() !== '') blocks.push({ kind, text: whole });
    kind = 'paragraph';
  };
  const parser = new Parser(
    {
      onopentag(name) {
        depth += 1;
        if (depth > MAX_DEPTH)
          throw new DocumentError(`The page is nested more than ${MAX_DEPTH} levels deep`);
        if (SKIPPED.has(name)) skipping += 1;
        if (name === 'pre') preformatted += 1;
        if (name === 'br') text += '\n';
        if (INLINE.has(name) || CELLS.has(name) || name === 'br') return;
        finish();
        if (HEADINGS.has(name)) kind = 'heading';
        if (name === 'tr' || name === 'li') kind = 'row';
      },
      onclosetag(name) {
        depth -= 1;
        if (SKIPPED.has(name)) skipping = Math.max(0, skipping - 1);
        if (name === 'pre') preformatted = Math.max(0, preformatted - 1);
        if (CELLS.has(name) && text.trim() !== '') text = `${text.trimEnd()} | `;
        if (!INLINE.has(name) && !CELLS.has(name) && name !== 'br') finish();
      },
      ontext(piece) {
        if (skipping > 0) return;
        text += preformatted > 0 ? piece : piece.replace(/\s+/g, ' ');
        while (text.length > MAX_BLOCK_CHARACTERS) {
          const cut = cutPoint(text, MAX_BLOCK_CHARACTERS);
          const rest = text.slice(cut);
          text = text.slice(0, cut);
          finish();
          text = rest;
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true, recognizeSelfClosing: false },
  );
  const taken = () => {
    const done = blocks;
    blocks = [];
    return done;
  };
  return {
    write(markup) {
      parser.write(markup);
      return taken();
    },
    end() {
      parser.end();
      finish();
      return taken();
    },
  };
}

/** @see HTML, "determining the character encoding" */
function declaredEncoding(head: string): string | undefined {
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]+)/i.exec(head.slice(0, 4096))?.[1];
}
