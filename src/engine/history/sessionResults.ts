import { z } from 'zod';

/** What the model says of an ended session, as the agent's `analysis` asks. */
export const analysisResult = z
  .strictObject({
    status: z
      .enum(['done', 'failed', 'skipped'])
      .describe('skipped: there was nothing to analyze, or it was not done when session.finalized was due.'),
    reason: z.string().optional().describe('Why it is not done.'),
    summary: z.string().optional(),
    disposition: z.string().optional().describe('Absent where the model chose none.'),
    success: z.boolean().optional().describe('What the disposition says of it.'),
    data: z.record(z.string(), z.unknown()).optional(),
    model: z.string().describe('The model that was asked.').meta({ example: 'gpt-6-luna' }),
  })
  .meta({
    id: 'Analysis',
    examples: [
      {
        status: 'done',
        summary: 'The caller booked a table for two.',
        disposition: 'booked',
        success: true,
        data: { guests: 2 },
        model: 'gpt-6-luna',
      },
    ],
  });
export type Analysis = z.infer<typeof analysisResult>;

const verdict = z.strictObject({ name: z.string(), passed: z.boolean(), reason: z.string() });
const score = z.strictObject({
  name: z.string(),
  type: z.literal('score'),
  score: z
    .int()
    .min(1)
    .max(5)
    .nullable()
    .describe('From 1 (worst) to 5 (best); null where the model gave none.'),
  reason: z.string(),
});
const criterionResult = z
  .union([verdict, score])
  .describe('The result of a criterion: met or not, or a score.');

export const evaluationResult = z.strictObject({ criteria: z.array(criterionResult) });
export type Evaluation = z.infer<typeof evaluationResult>;

/** What was found out about an ended session. */
export interface SessionResults {
  readonly evaluation?: Evaluation | undefined;
  readonly analysis?: Analysis | undefined;
}
