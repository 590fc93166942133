import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Settings } from './settings.ts';

const BYTES = 32;
/** File name in DATA_DIR. */
export const SECRETS_KEY_FILE = 'secrets-key';

/**
 * Reads a generated secret, or creates it at the first start in a file that only its owner can read.
 *
 * @returns 32 random bytes in base64url, and whether they are new.
 */
export async function storedSecret(
  folder: string,
  name: string,
): Promise<{ secret: string; isNew: boolean }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, name);
  try {
    const made = randomBytes(BYTES).toString('base64url');
    await writeFile(file, `${made}\n`, { mode: 0o600, flag: 'wx' });
    return { secret: made, isNew: true };
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw error;
  }
  const secret = (await readFile(file, 'utf8')).trim();
  if (secret !== '') return { secret, isNew: false };
  const remedy =
    name === SECRETS_KEY_FILE
      ? 'restore it from your backup: without that key no stored secret can be opened'
      : 'delete it to create a new one';
  throw new Error(`${file} is empty; ${remedy}`);
}

/** The key that seals secrets, from the settings or from the file; undefined before the first start. */
export async function readSecretsKey({
  SECRETS_KEY,
  DATA_DIR,
}: Pick<Settings, 'SECRETS_KEY' | 'DATA_DIR'>): Promise<Buffer | undefined> {
  if (SECRETS_KEY) return SECRETS_KEY;
  const text = await readFile(join(DATA_DIR, SECRETS_KEY_FILE), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Buffer.from(text.trim(), 'base64url');
}
