import type { components } from '../../api/schema.d.ts';

export type Delivery = components['schemas']['WebhookDelivery'];

/** The events of both webhooks, to choose from. */
export const DELIVERED_EVENTS = [
  'session.started',
  'session.ended',
  'session.finalized',
  'recording.ready',
  'call.queued',
  'call.ringing',
  'call.answered',
  'call.held',
  'call.resumed',
  'call.ended',
  'turn.started',
  'turn.user',
  'turn.agent',
  'turn.interrupted',
  'node.entered',
  'tool.called',
  'tool.finished',
  'variable.set',
  'transfer.started',
  'transfer.accepted',
  'transfer.refused',
  'transfer.joined',
  'transfer.failed',
  'participant.joined',
  'participant.left',
  'participant.changed',
  'trunk.changed',
  'provider.fallback',
  'test.updated',
] as const satisfies readonly Delivery['event'][];
