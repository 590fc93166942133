import type { Block, BlockReader } from './block.ts';
import { cutPoint, MAX_BLOCK_CHARACTERS } from './clean.ts';
import { readText } from './textStream.ts';

const PARAGRAPH_END = /\n[^\S\n]*\n\s*/;
/** @see CommonMark section 4.2 */
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$/;

/** Paragraphs, separated by empty lines. */
export const readPlainText: BlockReader = async function* ({ path }) {
  for await (const text of paragraphs(readText(path))) yield { kind: 'paragraph', text };
};

/** Plain text with headings. */
export const readMarkdown: BlockReader = async function* ({ path }) {
  for await (const paragraph of paragraphs(readText(path))) yield* splitHeadings(paragraph);
};

/** Splits streamed text into paragraphs; one that is too long is split. */
export async function* paragraphs(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    rest += piece.replace(/\r\n?/g, '\n');
    for (;;) {
      const end = PARAGRAPH_END.exec(rest.slice(0, MAX_BLOCK_CHARACTERS));
      // An empty line at the very end may continue in the next chunk.
      if (end && end.index + end[0].length < rest.length) {
        yield* nonEmpty(rest.slice(0, end.index));
        rest = rest.slice(end.index + end[0].length);
      } else if (rest.length > MAX_BLOCK_CHARACTERS) {
        const cut = cutPoint(rest, MAX_BLOCK_CHARACTERS);
        yield* nonEmpty(rest.slice(0, cut));
        rest = rest.slice(cut);
      } else break;
    }
  }
  yield* nonEmpty(rest);
}

function* nonEmpty(text: string): Generator<string> {
  if (text.trim() !== '') yield text;
}

function* splitHeadings(paragraph: string): Generator<Block> {
  let lines: string[] = [];
  const rest = function* (): Generator<Block> {
    const text = lines.join('\n');
    lines = [];
    if (text.trim() !== '') yield { kind: 'paragraph', text };
  };
  for (const line of paragraph.split('\n')) {
    const [, , title] = HEADING.exec(line) ?? [];
    if (title === undefined) {
      lines.push(line);
      continue;
    }
    yield* rest();
    yield { kind: 'heading', text: title };
  }
  yield* rest();
}
