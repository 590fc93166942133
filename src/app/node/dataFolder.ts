import { join } from 'node:path';
import type { Logger } from 'pino';

import { uuidV7 } from '../../base/ids.ts';
import { lockFolder, START_WAIT_MS } from '../../infra/files/folderLock.ts';
import type { Config } from '../settings/config.ts';
import { SECRETS_KEY_FILE, storedSecret } from '../settings/keptSecret.ts';

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
