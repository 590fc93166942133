import { z } from 'zod';

/** One change to keys, projects, trunks or secrets. */
export const auditEntry = z.object({
  id: z.uuid(),
  projectId: z.uuid().nullable(),
  at: z.iso.datetime(),
  actor: z.object({ kind: z.string(), keyId: z.string().optional(), hint: z.string().optional() }),
  action: z.string().meta({ example: 'api_key.created' }),
  target: z.string().nullable().describe('Id of the changed resource.'),
  details: z.record(z.string(), z.unknown()),
  requestId: z.string().nullable(),
});

export type AuditEntry = z.infer<typeof auditEntry>;
