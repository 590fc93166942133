import { z } from 'zod';

/** A release as users name it: its number, or `draft` for the working copy. */
export const releaseName = z.union([z.int().min(1), z.literal('draft')]);
export type ReleaseName = z.infer<typeof releaseName>;

/** A release in a query or on a command line, where numbers are text. */
export const releaseParameter = z
  .string()
  .regex(/^(?:draft|[1-9]\d{0,8})$/, 'release must be a number or draft')
  .transform((text): ReleaseName => (text === 'draft' ? text : Number(text)))
  .meta({ example: '3' });

/** Names a stored release. @param number - Null for the working copy. */
export function toReleaseName(number: number | null | undefined): ReleaseName {
  return number ?? 'draft';
}
