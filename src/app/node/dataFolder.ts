import { chmod, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';

import { uuidV7 } from '../../base/values/ids.ts';
import { lockFolder, START_WAIT_MS } from '../../infra/files/folderLock.ts';
import type { Config } from '../settings/config.ts';
import { SECRETS_KEY_FILE, storedSecret } from '../settings/keptSecret.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const PERMISSION_BITS = 0o777;

/**
 * Creates the data folder, and takes from other users the access to what is in it: a restored copy or an operator may
 * have left it open. The folder itself comes first, which closes all of it at once.
 *
 * @throws {Error} When a file belongs to another user.
 */
export async function openDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  await restrictAccess(folder);
}

/** Takes from other users the access to a file, or to a folder with all that is in it. */
export async function restrictAccess(path: string): Promise<void> {
  // A file may be removed meanwhile, by a process that still stops.
  const status = await lstat(path).catch(ignoreMissing);
  if (!status || !(status.isDirectory() || status.isFile())) return;
  const mode = status.isDirectory() ? FOLDER_MODE : FILE_MODE;
  if ((status.mode & PERMISSION_BITS) !== mode) await chmod(path, mode).catch(ignoreMissing);
  if (!status.isDirectory()) return;
  for (const name of (await readdir(path).catch(ignoreMissing)) ?? []) await restrictAccess(join(path, name));
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Locks the data folder; logs when it has to wait for another process. @returns Releases the lock. */
export function lockDataFolder(config: Config, logger: Logger): Promise<() => Promise<void>> {
  const folder = config.DATA_DIR;
  return lockFolder(folder, {
    waitMs: START_WAIT_MS,
    onWait: (holder) =>
      logger.warn({ folder, ...holder }, 'data folder in use, waiting for the other process to exit'),
  });
}

/** The admin token, generated at the first start. */
export async function storedAdminToken(config: Config, logger: Logger): Promise<string> {
  const { secret, isNew } = await storedSecret(config.DATA_DIR, 'admin-token');
  if (isNew) logger.info({ file: join(config.DATA_DIR, 'admin-token') }, 'admin token generated');
  return secret;
}

/** The key that encrypts secrets, generated at the first start. */
export async function storedSecretsKey(config: Config): Promise<Buffer> {
  const { secret } = await storedSecret(config.DATA_DIR, SECRETS_KEY_FILE);
  return Buffer.from(secret, 'base64url');
}

/**
 * A data folder with exclusive use keeps its node id, so that a restarted node ends the calls of its previous run.
 */
export async function readNodeId(config: Config): Promise<string> {
  if (config.DATABASE_URL && config.REDIS_URL) return uuidV7();
  const { secret } = await storedSecret(config.DATA_DIR, 'node-id');
  return secret;
}
