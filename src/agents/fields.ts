import { z } from 'zod';

const LONGEST_URL = 2048;
const MOST_HEADERS = 32;

/** An address that users name; whether it may be reached is the egress policy's to say. */
export const targetUrl = z.string().min(1).max(LONGEST_URL);

/** Header names are tokens, and values hold no line break. @see RFC 9110 sections 5.1 and 5.5 */
export const headerList = z
  .array(
    z.strictObject({
      key: z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'must be a header name'),
      value: z
        .string()
        .max(8192)
        .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be printable text on one line'),
    }),
  )
  .max(MOST_HEADERS);

/** A name by which prompts and tools can call a variable. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'must be letters, digits and underscores, at most 64');
