import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Config } from '../../app/settings/config.ts';
import { folderHolder } from '../../infra/files/folderLock.ts';
import { type Finding, fail, ok } from './finding.ts';

const NAME = 'data folder';
/** Permission bits of users other than the owner. */
const OTHERS = 0o077;

/** Checks that DATA_DIR is writable, whether a process uses it, and that only the owner can read its secrets. */
export async function checkDataFolder(config: Pick<Config, 'DATA_DIR'>): Promise<Finding[]> {
  const folder = config.DATA_DIR;
  const exists = await isThere(folder);
  const problem = await tryToWrite(exists ? folder : await nearestFolder(folder));
  if (problem) {
    return [
      fail(
        NAME,
        `${folder} cannot be written (${problem})`,
        'Make the folder writable for the service’s user, or set DATA_DIR to another one.',
      ),
    ];
  }
  if (!exists) return [ok(NAME, `${folder} will be created at the first start`)];
  const holder = await folderHolder(folder);
  const used = holder ? `in use by process ${holder.pid} on ${holder.host}` : 'not in use';
  const open = await Promise.all(['admin-token', 'secrets-key'].map((name) => checkSecrecy(folder, name)));
  return [ok(NAME, `${folder}, ${used}`), ...open.flat()];
}

async function checkSecrecy(folder: string, name: string): Promise<Finding[]> {
  const file = join(folder, name);
  const found = await stat(file).catch(() => undefined);
  if (!found || (found.mode & OTHERS) === 0) return [];
  return [fail(NAME, `${file} is readable by other users`, `chmod 600 ${file}`)];
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/** The deepest existing folder of the path. */
async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  return parent === path || (await isThere(parent)) ? parent : await nearestFolder(parent);
}

/** @returns The error code; undefined when it succeeds. */
async function tryToWrite(folder: string): Promise<string | undefined> {
  const file = join(folder, `.callway-${randomUUID()}`);
  try {
    await writeFile(file, '', { mode: 0o600, flag: 'wx' });
    await rm(file);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
