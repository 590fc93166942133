import mammoth from 'mammoth';

import { checkArchive } from './archive.ts';
import { type BlockReader, DocumentError } from './block.ts';
import { createHtmlBlocks } from './html.ts';

/** Headings, paragraphs, lists and tables, without images. */
export const readDocx: BlockReader = async function* ({ path }) {
  await checkArchive(path);
  const html = createHtmlBlocks();
  yield* html.write(await convert(path));
  yield* html.end();
};

async function convert(path: string): Promise<string> {
  const convertImage = mammoth.images.imgElement(async () => ({ src: '' }));
  try {
    const { value } = await mammoth.convertToHtml({ path }, { convertImage, ignoreEmptyParagraphs: true });
    return value;
  } catch (error) {
    throw new DocumentError('The Word document is damaged and cannot be read', { cause: error });
  }
}
