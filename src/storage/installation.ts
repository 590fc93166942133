import type { Sealer } from '../base/sealer.ts';
import type { Database } from './database.ts';

/** The stored secrets were sealed with another key. */
export class WrongSecretsKeyError extends Error {
  constructor() {
    super('SECRETS_KEY: is not the key that the secrets in this database were sealed with');
    this.name = 'WrongSecretsKeyError';
  }
}

/**
 * Notes the first key that secrets are sealed with, and refuses any other: half of the secrets would be lost.
 *
 * @throws {WrongSecretsKeyError}
 */
export async function requireSameSealer(database: Database, sealer: Sealer): Promise<void> {
  await database.query(
    `INSERT INTO installation (name, value) VALUES ('secrets_key_fingerprint', $1) ON CONFLICT (name) DO NOTHING`,
    [sealer.fingerprint],
  );
  const [row] = await database.query<{ value: string }>(
    `SELECT value FROM installation WHERE name = 'secrets_key_fingerprint'`,
  );
  if (row?.value !== sealer.fingerprint) throw new WrongSecretsKeyError();
}
