import { stat } from 'node:fs/promises';

import { typeOfName } from '../documentType.ts';
import { type Block, type BlockReader, DocumentError } from './block.ts';
import { readPlainText } from './plainText.ts';
import { readText } from './textStream.ts';

/** Larger files are read as text: parsed, they need many times their size in memory. */
const MAX_PARSED_BYTES = 8_388_608;
const MAX_DEPTH = 64;

/** Reads one block per value, with its path; also from JSON Lines. */
export const readJson: BlockReader = async function* (file) {
  const { size } = await stat(file.path);
  if (size > MAX_PARSED_BYTES) {
    yield* readPlainText(file);
    return;
  }
  let text = '';
  for await (const piece of readText(file.path)) text += piece;
  const value = parseAll(text);
  if (value !== undefined) {
    yield* flatten(value, '', 0);
    return;
  }
  if (typeOfName(file.name) === 'json') {
    throw new DocumentError(
      'The file is named like JSON but is not valid JSON: it is cut off, or its brackets do not match',
    );
  }
  yield* readPlainText(file);
};

function parseAll(text: string): unknown {
  const whole = parse(text);
  if (whole !== undefined) return whole;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const values = lines.map(parse);
  return lines.length > 1 && !values.includes(undefined) ? values : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Undefined is not a JSON value.
    return undefined;
  }
}

function* flatten(value: unknown, path: string, depth: number): Generator<Block> {
  if (typeof value !== 'object' || value === null) {
    const text = String(value ?? '').trim();
    if (text !== '') yield { kind: 'row', text: path === '' ? text : `${path}: ${text}` };
    return;
  }
  if (depth >= MAX_DEPTH) throw new DocumentError(`The JSON is nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) {
    for (const item of value) {
      yield* flatten(item, path, depth + 1);
    }
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    yield* flatten(item, path === '' ? key : `${path}.${key}`, depth + 1);
  }
}
