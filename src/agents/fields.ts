import { z } from 'zod';

import { targetHeadersSchema } from '../infra/httpClient/headers.ts';
import { MAX_TARGET_URL_LENGTH } from '../infra/httpClient/target.ts';

/** An address that users name; whether it may be reached is the egress policy's to say. */
export const targetUrl = z.string().min(1).max(MAX_TARGET_URL_LENGTH);

/** Headers that users want sent along; never those that the connection needs for itself. */
export const headerList = targetHeadersSchema();

/** A name by which prompts and tools can call a variable. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'must be letters, digits and underscores, at most 64');
