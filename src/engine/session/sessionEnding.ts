import {
  type AgentConfig,
  DEFAULT_WEBHOOK_EVENTS,
  type WebhookEventName,
  webhookEventName,
} from '../../agents/agentConfig.ts';
import type { Clock } from '../../base/values/clock.ts';
import { missingVariables } from '../pathway/requiredVariables.ts';
import type { CallFacts, EndReason, Session } from './session.ts';
import { sessionPolicy } from './sessionPolicy.ts';
import type { SessionEnding } from './sessionStore.ts';

export interface SessionCall {
  readonly answered: boolean;
  readonly record: boolean;
  readonly facts: CallFacts;
}

export interface SessionEndingsDeps {
  /** Finds the call of a phone session. */
  readonly callOf: (projectId: string, callId: string) => Promise<SessionCall | undefined>;
  /** How long `session.finalized` waits for the events before it. */
  readonly finalizeTimeoutSeconds: number;
  readonly clock: Clock;
  /** Called when a session has ended and its webhooks are due. */
  readonly onEnded: () => void;
}

/** Knows what is due when a session ends. */
export class SessionEndings {
  readonly onEnded: () => void;
  readonly #deps: SessionEndingsDeps;

  constructor(deps: SessionEndingsDeps) {
    this.#deps = deps;
    this.onEnded = deps.onEnded;
  }

  /** @returns Undefined for a session without a call. */
  async callOf({ projectId, callId }: Session): Promise<SessionCall | undefined> {
    return callId === null ? undefined : await this.#deps.callOf(projectId, callId);
  }

  /** The post-session work that is due when a session ends. */
  async of(agent: AgentConfig, session: Session, reason: EndReason): Promise<SessionEnding> {
    const { finalizeTimeoutSeconds, clock } = this.#deps;
    const { postSessionWebhook: webhook, postEvaluationConfig, memoryEnabled } = agent;
    const atMs = clock.now();
    const call = await this.callOf(session);
    const { variables } = session.state;
    const { sendsWebhooks } = sessionPolicy(session.state);
    return {
      at: new Date(atMs).toISOString(),
      reason,
      missingVariables: missingVariables(agent, variables).map(({ name }) => name),
      finalizeBy: new Date(atMs + finalizeTimeoutSeconds * 1000).toISOString(),
      expected: sendsWebhooks ? expectedEvents({ call }) : [],
      subscribed: sendsWebhooks && webhook ? (webhook.events ?? DEFAULT_WEBHOOK_EVENTS) : [],
      evaluating: sendsWebhooks && postEvaluationConfig !== null,
      readsMessages: sendsWebhooks && (webhook !== null || postEvaluationConfig !== null || memoryEnabled),
    };
  }
}

/** The webhook events of an ended session in sending order. Only a recorded, answered call has `recording.ready`. */
export function expectedEvents(session: {
  readonly call?: Pick<SessionCall, 'answered' | 'record'> | undefined;
}): readonly WebhookEventName[] {
  const { call } = session;
  return webhookEventName.options.filter((name) => {
    if (name === 'call.ended') return call !== undefined;
    if (name === 'recording.ready') return call?.answered === true && call.record;
    return true;
  });
}
