import {
  type AgentConfig,
  DEFAULT_WEBHOOK_EVENTS,
  type WebhookEventName,
  webhookEventName,
} from '../../agents/agentConfig.ts';
import { chatOf } from '../../agents/chat/chatConfig.ts';
import type { AgentRelease } from '../../agents/releases/release.ts';
import { languageAt } from '../../agents/speech/language.ts';
import type { Clock } from '../../base/values/clock.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type { Analysis } from '../history/sessionResults.ts';
import { missingVariables } from '../pathway/requiredVariables.ts';
import { type ChosenChat, chosenChat, type ModelChoice } from '../turn/turnContext.ts';
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
  readonly models: ModelChoice;
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
  async of({ agent, pathway }: AgentRelease, session: Session, reason: EndReason): Promise<SessionEnding> {
    const { finalizeTimeoutSeconds, models, clock } = this.#deps;
    const { postSessionWebhook: webhook, postEvaluationConfig, analysis, memoryEnabled } = agent;
    const atMs = clock.now();
    const call = await this.callOf(session);
    const { variables, currentNodeId } = session.state;
    const node = pathway.nodes.find(({ id }) => id === currentNodeId);
    const { sendsWebhooks } = sessionPolicy(session.state);
    const isJudged = postEvaluationConfig !== null || analysis !== null;
    return {
      at: new Date(atMs).toISOString(),
      reason,
      missingVariables: missingVariables(agent, variables).map(({ name }) => name),
      language: languageAt(agent.speech, node?.data.speech, variables) ?? null,
      finalizeBy: new Date(atMs + finalizeTimeoutSeconds * 1000).toISOString(),
      expected: sendsWebhooks ? expectedEvents({ call }) : [],
      subscribed: sendsWebhooks && webhook ? (webhook.events ?? DEFAULT_WEBHOOK_EVENTS) : [],
      evaluating: sendsWebhooks && isJudged,
      skippedAnalysis: sendsWebhooks ? skippedAnalysis(models, session.projectId, agent) : null,
      readsMessages: sendsWebhooks && (webhook !== null || isJudged || memoryEnabled),
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

/** Returns the model that analyzes an agent's sessions. */
export function analysisChat(models: ModelChoice, projectId: string, agent: AgentConfig): ChosenChat {
  const { model, endpoint } = agent.analysis ?? {};
  const chat = chatOf(agent.chat, omitUndefined({ model, endpoint }));
  return chosenChat(models, projectId, { ...agent, chat }, undefined);
}

/** Returns the analysis of a session where there was none in time; null where the agent asks for none. */
function skippedAnalysis(models: ModelChoice, projectId: string, agent: AgentConfig): Analysis | null {
  if (!agent.analysis) return null;
  const { modelName: model } = analysisChat(models, projectId, agent);
  return { status: 'skipped', reason: 'The analysis was not done in time.', model };
}
