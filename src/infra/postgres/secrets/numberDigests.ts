import { createHmac, randomBytes } from 'node:crypto';

import type { Sealer } from '../../../base/sealer.ts';
import type { Queryable } from '../connection/database.ts';

export const NUMBER_DIGEST_KEY = 'number_digest_key';
const KEY_BYTES = 32;
const READ = 'SELECT value FROM installation WHERE name = $1';

/**
 * Names the numbers of erased customers by keyed digests (HMAC). Their key is the installation's own, and stored sealed: the
 * digests cannot be made anew when `SECRETS_KEY` changes, since the numbers are gone.
 */
export interface NumberDigests {
  /** Returns the digest of a number on a list; its key is read once. */
  open(database: Queryable): Promise<NumberDigest>;
}

/** @param owner - The project, whose digests tell other projects nothing; null for the installation. */
type NumberDigest = (owner: string | null, number: string) => string;

export function createNumberDigests(sealer: Sealer): NumberDigests {
  let known: string | undefined;
  const keyIn = async (database: Queryable): Promise<string> => {
    const [stored] = await database.query<{ value: string }>(READ, [NUMBER_DIGEST_KEY]);
    if (stored) {
      known = sealer.open(stored.value);
      return known;
    }
    await database.query('INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      NUMBER_DIGEST_KEY,
      sealer.seal(randomBytes(KEY_BYTES).toString('base64')),
    ]);
    // Not kept yet: this transaction may be rolled back.
    const [made] = await database.query<{ value: string }>(READ, [NUMBER_DIGEST_KEY]);
    if (!made) throw new Error('the key of number digests was not stored');
    return sealer.open(made.value);
  };
  return {
    async open(database) {
      const key = Buffer.from(known ?? (await keyIn(database)), 'base64');
      return (owner, number) =>
        createHmac('sha256', key)
          .update(`${owner ?? ''} ${number}`)
          .digest('hex');
    },
  };
}
