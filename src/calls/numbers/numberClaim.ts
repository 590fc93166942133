import { z } from 'zod';

import { phoneNumber } from './phoneNumber.ts';

/** The claim of a number by a project, as the operator sees it. */
export const numberClaim = z
  .object({
    number: phoneNumber.shape.number,
    projectId: z.uuid(),
    phoneNumberId: z.uuid(),
    verified: phoneNumber.shape.verified,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'NumberClaim' });

export const numberClaimPatch = z
  .strictObject({
    projectId: z
      .uuid()
      .describe('Assigns the number to this project, verified unless `verified` says otherwise.'),
    verified: z.boolean().describe('Whether the project may take calls to the number.'),
  })
  .partial();

export type NumberClaim = z.infer<typeof numberClaim>;
export type NumberClaimPatch = z.infer<typeof numberClaimPatch>;

/**
 * `open`: a claim counts at once. `verified`: it is pending until the operator verifies it. Undefined: `open` while the
 * installation has one project.
 */
export type NumberOwnership = 'open' | 'verified' | undefined;

/** Returns true when a tenant's new claim is verified at once. */
export function isClaimVerified(ownership: NumberOwnership, projectCount: number): boolean {
  return ownership === undefined ? projectCount <= 1 : ownership === 'open';
}
