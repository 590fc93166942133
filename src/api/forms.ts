import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';

import { CallwayError, invalid } from '../base/errors.ts';
import type { App } from './ports.ts';

const MAX_NAME_CHARACTERS = 255;
/** A form has one file; some clients add a few fields of their own. */
const PART_LIMITS = { files: 1, fields: 16, parts: 17, fieldSize: 65_536, headerPairs: 32 } as const;

/** A form that was read. */
export interface Form<Stored> {
  readonly file: Stored;
  /** The values of the other parts by name. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Reads forms of this scope's requests, whose files are checked for their size where they are stored. */
export async function acceptForms(scope: App, maxFileBytes: number): Promise<void> {
  // One byte more than allowed, so that the size check is ours.
  const limits = { ...PART_LIMITS, fileSize: maxFileBytes + 1 };
  await scope.register(multipart, { limits, throwFileSizeLimit: false });
}

/**
 * Reads a form with a file in one part.
 *
 * @param store - Stores the file as it comes.
 * @param discard - Removes it when the rest of the form fails.
 * @throws {CallwayError} 400 `missing_file`, `too_many_files`, `invalid_multipart`; the error of `store`.
 */
export async function readForm<Stored>(
  request: FastifyRequest,
  filePart: string,
  store: (part: MultipartFile) => Promise<Stored>,
  discard: (stored: Stored) => Promise<void> = async () => undefined,
): Promise<Form<Stored>> {
  const fields = new Map<string, string>();
  let received: { readonly file: Stored } | undefined;
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') fields.set(part.fieldname, String(part.value));
      else if (part.fieldname === filePart) received = { file: await store(part) };
      else part.file.resume();
    }
  } catch (error) {
    if (received) await discard(received.file);
    // Many clients read the response only after they have sent the whole body.
    request.raw.unpipe().resume();
    throw toFormError(error);
  }
  if (!received) throw invalid('missing_file', `The form must have a file in a part named ${filePart}`);
  return { file: received.file, fields };
}

/** Drops folders, which some clients send, and control characters, which cannot be stored. */
export function cleanFileName(fileName: string | undefined, otherwise: string): string {
  const [last = ''] = (fileName ?? '').toWellFormed().split(/[/\\]/).slice(-1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  const clean = last.replace(/[\u0000-\u001f\u007f]/g, '').trim();
  return clean === '' ? otherwise : clean.slice(0, MAX_NAME_CHARACTERS).toWellFormed();
}

/** An error of reading a form, as its sender is told. */
function toFormError(error: unknown): unknown {
  if (error instanceof CallwayError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'FST_FILES_LIMIT') return invalid('too_many_files', 'Send one file at a time');
  if (code.startsWith('FST_') || isMalformedForm(error)) {
    return invalid('invalid_multipart', 'The form cannot be read: it is incomplete or malformed');
  }
  return error;
}

/** The multipart parser's errors have no code. */
function isMalformedForm(error: unknown): boolean {
  return (
    error instanceof Error && /multipart|boundary|part terminated|premature|malformed/i.test(error.message)
  );
}
