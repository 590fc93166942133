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
  'Once every node has the new SECRETS_KEY: callway secrets reseal; then take the old key out of SECRETS_KEY_PREVIOUS.',
);

/**
 * Whether this node has the key that the stored secrets were sealed with.
 *
 * @param sealedWith - Fingerprint of that key as the database has it, where it could be asked and has one.
 */
export async function checkSecretsKey(config: Settings, sealedWith: string | undefined): Promise<Finding> {
  const key = await readSecretsKey(config);
  const origin = config.SECRETS_KEY ? 'SECRETS_KEY' : join(config.DATA_DIR, SECRETS_KEY_FILE);
  if (key !== undefined && key.length !== KEY_BYTES) {
    return fail(
      NAME,
      `${origin} does not hold ${KEY_BYTES} bytes`,
      'Put the key’s own text back from your copy.',
    );
  }
  const sealer = key && createSealer(key, config.SECRETS_KEY_PREVIOUS);
  if (sealedWith !== undefined && sealer?.fingerprint !== sealedWith) {
    if (sealer?.knows(sealedWith)) return SEALED_BEFORE;
    return fail(
      NAME,
      'is not the key that the secrets in the database were sealed with',
      'Set SECRETS_KEY to the key of the first node: what its SECRETS_KEY or the file secrets-key in its DATA_DIR says.',
    );
  }
  if (config.DATABASE_URL !== undefined && config.SECRETS_KEY === undefined) {
    return warn(
      NAME,
      `is in ${origin}, on this machine alone`,
      'Set SECRETS_KEY on every node that shares the database, and keep a copy of it.',
    );
  }
  return ok(NAME, key === undefined ? `${origin} is made at the first start` : `from ${origin}`);
}
