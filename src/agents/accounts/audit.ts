import { z } from 'zod';

/** Changes that are recorded, each by the name that it has in the log. A control of a call is named by its route. */
export const AUDIT_ACTIONS = [
  'alert.created',
  'alert.deleted',
  'alert.updated',
  'api_key.created',
  'api_key.revoked',
  'call.participant_added',
  'call.participant_changed',
  'call.participant_removed',
  'campaign.canceled',
  'campaign.contact_removed',
  'campaign.contacts_added',
  'campaign.contacts_imported',
  'campaign.created',
  'campaign.deleted',
  'campaign.paused',
  'campaign.resumed',
  'campaign.started',
  'campaign.updated',
  'customer.erased',
  'customer.memory_deleted',
  'do_not_call.added',
  'do_not_call.removed',
  'mcp_server.created',
  'mcp_server.updated',
  'mcp_server.deleted',
  'media_file.created',
  'media_file.deleted',
  'phone_number.assigned',
  'phone_number.created',
  'phone_number.updated',
  'phone_number.deleted',
  'project.created',
  'project.updated',
  'project.deleted',
  'provider.updated',
  'provider.deleted',
  'rates.updated',
  'rates.deleted',
  'trunk.created',
  'trunk.updated',
  'trunk.deleted',
  'webhook_delivery.redelivered',
  'webhook_secret.rotated',
  'widget_token.created',
  'widget_token.revoked',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number] | `call.${string}`;

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
