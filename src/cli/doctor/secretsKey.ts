import { join } from 'node:path';
import type { Config } from '../../app/settings/config.ts';
import { readSecretsKey, SECRETS_KEY_FILE } from '../../app/settings/keptSecret.ts';
import { createSealer } from '../../base/sealer.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const NAME = 'secrets key';
const KEY_BYTES = 32;

type Settings = Pick<Config, 'SECRETS_KEY' | 'SECRETS_KEY_PREVIOUS' | 'DATA_DIR' | 'DATABASE_URL'>;

const SEALED_BEFORE = warn(
  NAME,
  'secrets are still sealed with a key of SECRETS_KEY_PREVIOUS',
  'When every node has the new SECRETS_KEY, run: callway secrets reseal. Then remove the old key from SECRETS_KEY_PREVIOUS.',
);

/**
 * Checks that this node has the key that sealed the stored secrets.
 *
 * @param sealedWith - Fingerprint of that key, from the database; undefined when there is none.
 */
export async function checkSecretsKey(config: Settings, sealedWith: string | undefined): Promise<Finding> {
  const key = await readSecretsKey(config);
  const origin = config.SECRETS_KEY ? 'SECRETS_KEY' : join(config.DATA_DIR, SECRETS_KEY_FILE);
  if (key !== undefined && key.length !== KEY_BYTES) {
    return fail(NAME, `${origin} does not contain ${KEY_BYTES} bytes`, 'Restore the key from your copy.');
  }
  const sealer = key && createSealer(key, config.SECRETS_KEY_PREVIOUS);
  if (sealedWith !== undefined && sealer?.fingerprint !== sealedWith) {
    if (sealer?.knows(sealedWith)) return SEALED_BEFORE;
    return fail(
      NAME,
      'is not the key that sealed the secrets in the database',
      'Set SECRETS_KEY to the key of the first node: its SECRETS_KEY, or the file secrets-key in its DATA_DIR.',
    );
  }
  if (config.DATABASE_URL !== undefined && config.SECRETS_KEY === undefined) {
    return warn(
      NAME,
      `is in ${origin}, only on this machine`,
      'Set SECRETS_KEY on every node that shares the database, and keep a copy of it.',
    );
  }
  return ok(NAME, key === undefined ? `${origin} will be created at the first start` : `from ${origin}`);
}
