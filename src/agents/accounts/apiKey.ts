import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** A `secret` key begins with `sk_`, a `developer` key with `dk_`. */
export const keyKind = z.enum(['secret', 'developer']);
export const scope = z.enum(['read', 'write', 'calls', 'supervise', 'keys:write']);

export type KeyKind = z.infer<typeof keyKind>;
export type Scope = z.infer<typeof scope>;

/** The scopes of every secret key, and the default of developer keys. */
export const DEFAULT_SCOPES: readonly Scope[] = ['read', 'write', 'calls'];

export const apiKeyInput = z
  .strictObject({
    name: z.string().min(1).max(128).meta({ example: 'CRM' }),
    kind: keyKind,
    scopes: z
      .array(scope)
      .min(1)
      .optional()
      .describe(
        'Only for developer keys. Default: read, write and calls. A key can give only scopes that it has.',
      ),
  })
  .refine(({ kind, scopes }) => kind === 'developer' || scopes === undefined, {
    path: ['scopes'],
    message: 'only developer keys have scopes',
  });

export const apiKey = z.object({
  id: z.uuid(),
  name: z.string(),
  kind: keyKind,
  hint: z.string().describe('Prefix and last four characters.').meta({ example: 'sk_…a1B2' }),
  scopes: z.array(scope),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
});

export type ApiKey = z.infer<typeof apiKey>;

const PREFIX = { secret: 'sk_', developer: 'dk_', widget: 'wt_' } as const;
const KEY_BYTES = 32;
/** Base62 digits that 32 bytes need: 256 / log2(62), rounded up. */
const KEY_DIGITS = 43;
const HINT_DIGITS = 4;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = new RegExp(`^(?:sk|dk|wt)_[0-9A-Za-z]{${KEY_DIGITS}}$`);

/** Generates a key from 32 random bytes. Only `digest` is stored; the key itself is shown once. */
export function makeApiKey(kind: KeyKind | 'widget'): { key: string; digest: string; hint: string } {
  const key = PREFIX[kind] + base62(randomBytes(KEY_BYTES));
  return { key, digest: digestCredential(key), hint: `${PREFIX[kind]}…${key.slice(-HINT_DIGITS)}` };
}

/** True when a credential has the format of a widget's token. */
export function looksLikeWidgetToken(credential: string): boolean {
  return credential.startsWith(PREFIX.widget);
}

/** True when a credential has the format of a key, or of a widget's token. */
export function looksLikeApiKey(credential: string): boolean {
  return FORM.test(credential);
}

/**
 * SHA-256 in hex. A key has 256 random bits, so a fast digest suffices; and since a lookup compares digests, its timing
 * reveals nothing about the key.
 */
export function digestCredential(credential: string): string {
  return hash('sha256', credential, 'hex');
}

function base62(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let digits = '';
  while (digits.length < KEY_DIGITS) {
    digits = BASE62.charAt(Number(value % 62n)) + digits;
    value /= 62n;
  }
  return digits;
}
