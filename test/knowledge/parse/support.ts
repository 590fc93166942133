import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { DocumentType } from '../../../src/knowledge/documentType.ts';
import type { Block } from '../../../src/knowledge/parse/block.ts';
import { READERS } from '../../../src/knowledge/parse/readers.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import { tempDir } from '../../support/tempDir.ts';

/** Reads a file of this content. */
export async function read(
  type: DocumentType,
  content: Uint8Array | string,
  name = `file.${type}`,
): Promise<Block[]> {
  const path = join(tempDir(), 'document');
  writeFileSync(path, content);
  const reader = await READERS[type]();
  return await arrayFromAsync(reader({ path, name }));
}

export async function readTexts(type: DocumentType, content: Uint8Array | string): Promise<string[]> {
  return texts(await read(type, content));
}

export const texts = (blocks: readonly Block[]): string[] => blocks.map(({ text }) => text);
