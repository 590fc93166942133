import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { detect } from 'chardet';

import { DocumentError } from './block.ts';

/** The size of the sample for detecting an encoding other than UTF-8. */
const SAMPLE_BYTES = 262_144;
const READ_BYTES = 262_144;
/** Byte frequencies of a shorter sample are not significant. */
const MIN_SAMPLE_BYTES = 1_024;
/** The web's default. @see WHATWG Encoding, "legacy single-byte" */
const FALLBACK = 'windows-1252';
/** The largest share of undecodable characters; a larger one means that the encoding is wrong. */
const MAX_BROKEN_SHARE = 0.1;
const BEYOND_ASCII = /[\u0080-\uffff]+/g;

/**
 * Streams a text file of any encoding, found by its byte order mark, its validity as UTF-8, its own declaration, or byte
 * frequencies.
 *
 * @param declared - Finds the encoding that a text declares, given its start.
 * @throws {DocumentError} When it cannot be decoded.
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
  if (broken > (characters + rest.length) * MAX_BROKEN_SHARE) {
    throw new DocumentError('The text’s encoding is not known, or the file is damaged; save it as UTF-8');
  }
}

async function encodingOf(path: string, declared?: (head: string) => string | undefined): Promise<string> {
  const sample = await readSample(path);
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le';
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be';
  if (await isUtf8(path)) return 'utf-8';
  const named = declared?.(sample.toString('latin1'));
  if (named !== undefined) return knownLabel(named) ?? FALLBACK;
  const guessed = knownLabel(detect(repeated(sample)) ?? FALLBACK) ?? FALLBACK;
  return corrected(guessed, sample);
}

/**
 * Corrects what the detector takes for one another in names and addresses, whose characters are not those of prose, by how
 * the bytes of the encodings differ.
 */
function corrected(guessed: string, sample: Buffer): string {
  const text = new TextDecoder(guessed).decode(sample);
  switch (guessed) {
    case 'euc-kr':
      // Korean of today has hardly any Han characters.
      return shareOf(text, /\p{Script=Han}/gu, /[\p{Script=Han}\p{Script=Hangul}]/gu) > 0.1
        ? 'gb18030'
        : guessed;
    case 'gb18030': {
      // The usual characters have two high bytes; about half of those in Big5 have a low second one.
      const [first, low] = [/[\x81-\xfe][\x40-\xfe]/g, /[\x81-\xfe][\x40-\x7e]/g];
      return shareOf(sample.toString('latin1'), low, first) > 0.2 ? 'big5' : guessed;
    }
    case 'windows-1252': {
      const bytes = sample.toString('latin1');
      // Letters with accents seldom stand together.
      if (shareOf(bytes, /[\x80-\xff](?=[\x80-\xff])/g, /[\x80-\xff]/g) > 0.25) return 'shift_jis';
      // Within words there are quotes and ligatures here, and the accented letters of a Mac.
      const inWords = /(?<=[a-z])[\x80-\x8b\x8d-\x91\x93-\x95\x98-\x9b\x9d-\x9f](?=[a-z])/gi;
      return shareOf(bytes, inWords, /(?<=[a-z])[\x80-\xff](?=[a-z])/gi) > 0.5 ? 'macintosh' : guessed;
    }
    default:
      return guessed;
  }
}

function shareOf(text: string, some: RegExp, all: RegExp): number {
  return (text.match(some)?.length ?? 0) / Math.max(1, text.match(all)?.length ?? 0);
}

/** Repeats a short text, which the detector refuses to analyze: its frequencies stay the same. */
function repeated(sample: Buffer): Buffer {
  if (sample.length === 0 || sample.length >= MIN_SAMPLE_BYTES) return sample;
  const line = Buffer.concat([sample, Buffer.from('\n')]);
  return Buffer.concat(Array<Buffer>(Math.ceil(MIN_SAMPLE_BYTES / line.length)).fill(line));
}

/** @returns The name that TextDecoder uses. */
function knownLabel(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    // An unknown label: the fallback applies.
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
 * Whether the text is UTF-8, a little damage tolerated: in a text of another encoding nearly all characters beyond ASCII
 * are invalid.
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
  return broken <= beyondAscii * MAX_BROKEN_SHARE;
}
