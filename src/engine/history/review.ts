import { z } from 'zod';

const MAX_NOTE_CHARACTERS = 4_000;
const MAX_LABELS = 20;
const MAX_LABEL_CHARACTERS = 64;
/** An agent has no more criteria. */
const MAX_CRITERIA = 50;
const MAX_NAME_CHARACTERS = 128;

const verdict = z.enum(['good', 'bad']);

/** What a person says of an ended session. */
export const reviewInput = z.strictObject({
  verdict,
  note: z.string().max(MAX_NOTE_CHARACTERS).optional(),
  labels: z.array(z.string().min(1).max(MAX_LABEL_CHARACTERS)).max(MAX_LABELS).optional(),
  criteria: z
    .record(z.string().max(MAX_NAME_CHARACTERS), verdict)
    .refine((criteria) => Object.keys(criteria).length <= MAX_CRITERIA, `{field} has at most ${MAX_CRITERIA}`)
    .optional()
    .describe(
      'By the name of a criterion that the session’s evaluation passed or not: what the person would have said. `judgeAgreement` of the insights compares both.',
    ),
});
export type ReviewInput = z.infer<typeof reviewInput>;

export const review = reviewInput
  .extend({
    at: z.iso.datetime(),
    by: z
      .object({ kind: z.string(), keyId: z.string().optional(), hint: z.string().optional() })
      .describe('Who reviewed it, as in the audit log.'),
  })
  .meta({ id: 'Review' });
export type Review = z.infer<typeof review>;
