import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { detect } from 'chardet';

import { DocumentError } from './block.ts';

/** What an encoding is told by, where the text is no UTF-8. */
const SAMPLE_BYTES = 262_144;
const READ_BYTES = 262_144;
/** Of fewer bytes, frequencies tell nothing. */
const LEAST_COUNTED_BYTES = 1_024;
/** What the web takes a text for that says nothing of its encoding. @see WHATWG Encoding, "legacy single-byte" */
const FALLBACK = 'windows-1252';
/** A text of which so much cannot be decoded is none. */
const TOLERATED_BROKEN_SHARE = 0.1;
const BEYOND_ASCII = /[\u0080-\uffff]+/g;

/**
 * Reads a text file piece by piece, whatever its encoding: by its mark, as UTF-8 where all of it is, by what it
 * declares, or by the frequencies of its bytes.
 *
 * @param declared - Finds the encoding that a text names in itself, given its beginning.
 * @throws {DocumentError} When it is no text in any of them.
 */
export async function* readText(
  path: string,
  declared?: (head: string) => string | undefined,
): AsyncGenerator<string> {
  const label = await encodingOf(path, declared);
  const decoder = new TextDecoder(label);
  let broken = 0;
  let characters = 0;
  for await (const bytes of createReadStream(path, { highWaterMark: READ_BYTES })) {
    const text = decoder.decode(bytes as Buffer, { stream: true });
    characters += text.length;
    broken += text.split('\ufffd').length - 1;
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
  if (broken > (characters + rest.length) * TOLERATED_BROKEN_SHARE) {
    throw new DocumentError('The text’s encoding is not known, or the file is damaged; save it as UTF-8');
  }
}

async function encodingOf(path: string, declared?: (head: string) => string | undefined): Promise<string> {
  const sample = await readSample(path);
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le';
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be';
  if (await isUtf8(path)) return 'utf-8';
  const named = declared?.(sample.toString('latin1'));
  const guessed = named ?? detect(repeated(sample)) ?? FALLBACK;
  return knownLabel(guessed) ?? FALLBACK;
}

/** A short text, said again and again, has the frequencies of a longer one; a guess refuses to count what is so short. */
function repeated(sample: Buffer): Buffer {
  if (sample.length === 0 || sample.length >= LEAST_COUNTED_BYTES) return sample;
  const line = Buffer.concat([sample, Buffer.from('\n')]);
  return Buffer.concat(Array<Buffer>(Math.ceil(LEAST_COUNTED_BYTES / line.length)).fill(line));
}

/** @returns The name that decoders know it by. */
function knownLabel(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    // Named or guessed wrongly: then the fallback has to do.
    return undefined;
  }
}

async function readSample(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * Whether the text is UTF-8, or was before a little of it broke: in a text of another encoding nearly all characters
 * beyond ASCII would be broken.
 */
async function isUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8');
  let broken = 0;
  let beyondAscii = 0;
  const count = (text: string) => {
    broken += text.split('\ufffd').length - 1;
    for (const run of text.match(BEYOND_ASCII) ?? []) beyondAscii += run.length;
  };
  for await (const bytes of createReadStream(path, { highWaterMark: READ_BYTES })) {
    count(decoder.decode(bytes as Buffer, { stream: true }));
  }
  count(decoder.decode());
  return broken <= beyondAscii * TOLERATED_BROKEN_SHARE;
}
