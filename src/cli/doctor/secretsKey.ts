import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { createSealer } from '../../base/sealer.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const NAME = 'secrets key';
const KEY_BYTES = 32;

type Settings = Pick<Config, 'SECRETS_KEY' | 'DATA_DIR' | 'DATABASE_URL'>;

/**
 * Whether this node has the key that the stored secrets were sealed with.
 *
 * @param sealedWith - Fingerprint of that key as the database has it, where it could be asked and has one.
 */
export async function checkSecretsKey(config: Settings, sealedWith: string | undefined): Promise<Finding> {
  const key = config.SECRETS_KEY ?? (await keptKey(config.DATA_DIR));
  const origin = config.SECRETS_KEY ? 'SECRETS_KEY' : join(config.DATA_DIR, 'secrets-key');
  if (key !== undefined && key.length !== KEY_BYTES) {
    return fail(
      NAME,
      `${origin} does not hold ${KEY_BYTES} bytes`,
      'Put the key’s own text back from your copy.',
    );
  }
  if (sealedWith !== undefined && (key === undefined || createSealer(key).fingerprint !== sealedWith)) {
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

async function keptKey(folder: string): Promise<Buffer | undefined> {
  const text = await readFile(join(folder, 'secrets-key'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Buffer.from(text.trim(), 'base64url');
}
