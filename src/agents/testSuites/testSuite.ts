import { z } from 'zod';

const testCaseIds = z.array(z.string().min(1).max(128)).max(1000);
const name = z.string().min(1).max(128).meta({ example: 'Before each release' });

export const testSuiteInput = z.strictObject({ name, testCaseIds: testCaseIds.optional() });
export const testSuitePatch = z.strictObject({
  name: name.optional(),
  testCaseIds: testCaseIds.optional().describe('Replaces all existing connections.'),
});
export const testSuite = z
  .object({
    id: z.uuid(),
    projectId: z.uuid(),
    name: z.string(),
    testCases: z.array(z.object({ id: z.uuid() })),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'TestSuite' });

export type TestSuite = z.infer<typeof testSuite>;
