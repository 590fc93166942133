import { z } from 'zod';

import { type CallwayError, invalid } from '../base/errors.ts';
import { targetHeadersSchema } from '../http/headers.ts';
import { MAX_TARGET_URL_LENGTH } from '../http/target.ts';

/** A URL from a user; the target policy decides whether it may be reached. */
export const targetUrl = z.string().min(1).max(MAX_TARGET_URL_LENGTH);

/** Additional request headers; those that HTTP itself manages are not allowed. */
export const headerList = targetHeadersSchema();

/** Headers as a key sees them that may not change them: without their values. */
export const shownHeaderList = z
  .array(z.object({ key: z.string(), value: z.string().nullable() }))
  .describe('Values are null for a key without the scope `write`.');

/** The names of headers. */
export function withoutHeaderValues(
  headers: readonly { readonly key: string }[],
): { key: string; value: null }[] {
  return headers.map(({ key }) => ({ key, value: null }));
}

/** A stored secret does not follow an address to another server: who may not read it could have it sent. */
export function secretNeededAgain(path: string, secret: string): CallwayError {
  const message = `The address is of another server; give ${secret} again`;
  return invalid('secret_needed_again', message, [{ path, message }]);
}

/** The scheme, host and port of a URL, whose path may contain templates. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** Variables that only the service sets, in each session. */
export const RESERVED_VARIABLES: readonly string[] = ['call', 'channel'];

/** A variable's name in prompts and tools, in any script. */
export const variableName = z
  .string()
  .regex(/^[\p{L}_][\p{L}\p{M}\p{N}_]{0,63}$/u, 'must be letters, digits and underscores, at most 64');

/** The name of a variable that a setting fills. */
export const settableVariable = variableName.refine(
  (name) => !RESERVED_VARIABLES.includes(name),
  'must not be call or channel, which the service sets',
);

/** BCP 47, such as `en` or `zh-TW`. */
export const languageTag = z
  .string()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language tag such as en');

export const timezone = z
  .string()
  .max(64)
  .refine(isIanaTimezone, 'must be an IANA time zone such as Asia/Taipei')
  .meta({ example: 'Asia/Taipei' });

function isIanaTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
