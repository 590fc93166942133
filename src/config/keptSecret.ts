import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const BYTES = 32;

/**
 * A secret that no setting gives: made at the first start, and kept in a file that only its owner reads.
 *
 * @returns 32 random bytes in base64url, and whether they were made just now.
 */
export async function keptSecret(folder: string, name: string): Promise<{ secret: string; isNew: boolean }> {
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
  if (secret === '') throw new Error(`${file} is empty; remove it, and a new one is made`);
  return { secret, isNew: false };
}
