import type { Sealer } from '../../../base/sealer.ts';
import type { Database } from '../connection/database.ts';

/** The stored secrets were sealed with another key. */
export class WrongSecretsKeyError extends Error {
  constructor() {
    super(
      'SECRETS_KEY: is not the key that the secrets in this database were sealed with, nor is one of SECRETS_KEY_PREVIOUS',
    );
    this.name = 'WrongSecretsKeyError';
  }
}

/**
 * Notes the first key that secrets are sealed with, and refuses to go on without it: half of them would be lost. A key
 * that has a successor is enough, until all are sealed anew.
 *
 * @see resealSecrets
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
  if (!row || !sealer.knows(row.value)) throw new WrongSecretsKeyError();
}

/** Notes that every secret is sealed with this key now. */
export async function noteSealer(database: Database, sealer: Sealer): Promise<void> {
  await database.query(`UPDATE installation SET value = $1 WHERE name = 'secrets_key_fingerprint'`, [
    sealer.fingerprint,
  ]);
}
