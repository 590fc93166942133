import type { WebhookEventName } from '../agents/agentConfig.ts';
import { CallwayError } from '../base/errors.ts';
import { toReleaseName } from '../base/values/releaseName.ts';
import type { SessionMessage } from '../engine/session/session.ts';
import type { CallReport } from './callReport.ts';
import { webhookBodySchema } from './events.ts';
import type { OutboxSession } from './outboxStore.ts';

/**
 * The body of one event, as JSON.
 *
 * @throws {CallwayError} `webhook_body_invalid` when required data of the event is missing.
 */
export function webhookBody(
  event: WebhookEventName,
  deliveryId: string,
  session: OutboxSession,
  report: CallReport | undefined,
  nowMs: number,
): string {
  const { projectId, sessionId, release, channel, factsAt, endedAt } = session;
  const now = new Date(nowMs).toISOString();
  const occurredAt = event === 'session.finalized' ? now : (factsAt[event] ?? endedAt);
  const common = {
    event,
    sessionId,
    projectId,
    release: toReleaseName(release),
    channel,
    occurredAt,
    deliveryId,
  };
  const body = { ...common, call: report?.call, ...detailsOf(event, session, report) };
  const checked = webhookBodySchema.safeParse(body);
  if (checked.success) return JSON.stringify(body);
  throw new CallwayError('internal', 'webhook_body_invalid', `the body of ${event} could not be made`, {
    cause: checked.error,
  });
}

function detailsOf(
  event: WebhookEventName,
  session: OutboxSession,
  report: CallReport | undefined,
): Record<string, unknown> {
  const recording = { recording: report?.recording, recordingUrl: report?.recordingUrl };
  if (event === 'recording.ready') return recording;
  return event === 'session.finalized' ? { ...finalizedDetails(session, report), ...recording } : {};
}

function finalizedDetails(session: OutboxSession, report: CallReport | undefined) {
  const { startedAt, endedAt, endReason, messages, variables, missingVariables } = session;
  const { evaluation, analysis, usage, cost } = session;
  return {
    status: report?.call.status ?? 'ended',
    endReason: report?.endReason ?? endReason,
    startedAt,
    endedAt,
    durationMs: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)),
    messages: messages.map(shown),
    variables,
    missingVariables,
    evaluation,
    analysis,
    usage,
    cost,
  };
}

function shown({ internal: _internal, ...message }: SessionMessage) {
  return message;
}
