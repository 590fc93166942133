import {
  type AgentConfig,
  DEFAULT_WEBHOOK_EVENTS,
  type WebhookEventName,
  webhookEventName,
} from '../../agents/agentConfig.ts';
import type { Variables } from '../../agents/pathway/templates.ts';
import { missingVariables } from '../pathway/requiredVariables.ts';
import type { CallFacts, EndReason } from './session.ts';
import type { SessionEnding } from './sessionStore.ts';

/** The call of a session. */
export interface SessionCall {
  readonly answered: boolean;
  readonly record: boolean;
  readonly facts: CallFacts;
}

/** The post-session work that is due when a session ends. */
export function endingOf(
  agent: AgentConfig,
  variables: Variables,
  reason: EndReason,
  call: SessionCall | undefined,
  atMs: number,
  finalizeTimeoutSeconds: number,
): SessionEnding {
  return {
    at: new Date(atMs).toISOString(),
    reason,
    missingVariables: missingVariables(agent, variables).map(({ name }) => name),
    finalizeBy: new Date(atMs + finalizeTimeoutSeconds * 1000).toISOString(),
    expected: expectedEvents(call ? { call } : {}),
    subscribed: agent.postSessionWebhook ? (agent.postSessionWebhook.events ?? DEFAULT_WEBHOOK_EVENTS) : [],
    evaluating: agent.postEvaluationConfig !== null,
    readsMessages:
      agent.postSessionWebhook !== null || agent.postEvaluationConfig !== null || agent.memoryEnabled,
  };
}

/** The same for a session without webhooks and evaluation. */
export function withoutWebhooks(ending: SessionEnding): SessionEnding {
  return { ...ending, expected: [], subscribed: [], evaluating: false, readsMessages: false };
}

/** The webhook events of an ended session in sending order. Only a recorded, answered call has `recording.ready`. */
export function expectedEvents(session: {
  readonly call?: Pick<SessionCall, 'answered' | 'record'>;
}): readonly WebhookEventName[] {
  const { call } = session;
  return webhookEventName.options.filter((name) => {
    if (name === 'call.ended') return call !== undefined;
    if (name === 'recording.ready') return call?.answered === true && call.record;
    return true;
  });
}
