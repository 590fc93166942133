import { randomBytes, randomUUID } from 'node:crypto';

/** Unique and unguessable ids, as a dependency. */
export interface Ids {
  uuid(): string;
  /** Makes tags and branches of 16 hexadecimal digits. @see RFC 3261 section 19.3 requires at least 32 random bits */
  token(): string;
}

const TOKEN_BYTES = 8;
const POOL_BYTES = 4096;

/** Random bytes are read in pages: one system call for 512 tokens. */
export function createIds(): Ids {
  let pool = Buffer.alloc(0);
  let at = 0;
  return {
    uuid: () => randomUUID(),
    token() {
      if (at + TOKEN_BYTES > pool.length) {
        pool = randomBytes(POOL_BYTES);
        at = 0;
      }
      at += TOKEN_BYTES;
      return pool.toString('hex', at - TOKEN_BYTES, at);
    },
  };
}
