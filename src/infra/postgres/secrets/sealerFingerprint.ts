import type { Sealer } from '../../../base/sealer.ts';
import type { Database } from '../connection/database.ts';

/** The stored secrets were sealed with another key. */
export class WrongSecretsKeyError extends Error {
  constructor() {
    super(
      'SECRETS_KEY: is not the key of the secrets in this database, and neither is one of SECRETS_KEY_PREVIOUS; restore it, or the file secrets-key of DATA_DIR, from your backup',
    );
    this.name = 'WrongSecretsKeyError';
  }
}

/**
 * Records the fingerprint of the first key. Later starts with an unknown key fail, since stored secrets would be
 * unreadable. The current key or a previous one is accepted.
 *
 * @see resealSecrets
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

/** Records that all secrets are sealed with this key. */
export async function noteSealer(database: Database, sealer: Sealer): Promise<void> {
  await database.query(`UPDATE installation SET value = $1 WHERE name = 'secrets_key_fingerprint'`, [
    sealer.fingerprint,
  ]);
}
