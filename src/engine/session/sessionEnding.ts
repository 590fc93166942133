import {
  type AgentConfig,
  DEFAULT_WEBHOOK_EVENTS,
  type WebhookEventName,
  webhookEventName,
} from '../../agents/agentConfig.ts';
import type { EndReason } from './session.ts';
import type { SessionEnding } from './sessionStore.ts';

/** What a session's end has to know of its call. */
export interface SessionCall {
  readonly answered: boolean;
  readonly record: boolean;
}

/** Which webhooks a session's end makes due. */
export function endingOf(
  agent: AgentConfig,
  reason: EndReason,
  call: SessionCall | undefined,
  atMs: number,
  finalizeTimeoutSeconds: number,
): SessionEnding {
  return {
    at: new Date(atMs).toISOString(),
    reason,
    finalizeBy: new Date(atMs + finalizeTimeoutSeconds * 1000).toISOString(),
    expected: expectedEvents(call ? { call } : {}),
    subscribed: agent.postSessionWebhook ? (agent.postSessionWebhook.events ?? DEFAULT_WEBHOOK_EVENTS) : [],
    evaluating: agent.postEvaluationConfig !== null,
  };
}

/** The events of a session that ended, in order; only an answered call that was to be recorded has `recording.ready`. */
export function expectedEvents(session: { readonly call?: SessionCall }): readonly WebhookEventName[] {
  const { call } = session;
  return webhookEventName.options.filter((name) => {
    if (name === 'call.ended') return call !== undefined;
    if (name === 'recording.ready') return call?.answered === true && call.record;
    return true;
  });
}
