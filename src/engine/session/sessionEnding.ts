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
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { HistoryStore } from '../history/historyStore.ts';
import type { Analysis } from '../history/sessionResults.ts';
import { missingVariables } from '../pathway/requiredVariables.ts';
import { type ChosenChat, chosenChat, type ModelChoice } from '../turn/turnContext.ts';
import type { AttachedSessions } from './attachedSessions.ts';
import type { CallFacts, EndReason, IdleSession, Session } from './session.ts';
import { sessionEnded } from './sessionEvents.ts';
import { sessionPolicy } from './sessionPolicy.ts';
import type { SessionEnding } from './sessionStore.ts';

export interface SessionCall {
  readonly answered: boolean;
  readonly record: boolean;
  readonly facts: CallFacts;
}

/** What is outside of the engine when a session ends. */
export interface EndingDeps {
  /** Finds the call of a phone session. */
  readonly callOf: (projectId: string, callId: string) => Promise<SessionCall | undefined>;
  /** How long `session.finalized` waits for the events before it. */
  readonly finalizeTimeoutSeconds: number;
  /** Called when a session has ended and its webhooks are due. */
  readonly onEnded: () => void;
}

export interface SessionEndingsDeps extends EndingDeps {
  readonly attached: AttachedSessions;
  readonly releaseOf: (session: Session) => Promise<AgentRelease>;
  readonly usage: UsageRecorder;
  readonly liveEvents?: LiveEvents | undefined;
  readonly models: ModelChoice;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Ends sessions, and knows what is due then. */
export class SessionEndings {
  readonly #deps: SessionEndingsDeps;

  constructor(deps: SessionEndingsDeps) {
    this.#deps = deps;
  }

  /** @param isMeant - Decides whether to end the session as it is. @returns Whether a live session was ended. */
  async end(
    projectId: string,
    sessionId: string,
    reason: EndReason,
    isMeant: (session: Session) => boolean = () => true,
  ): Promise<boolean> {
    const { attached, releaseOf, usage, liveEvents, onEnded, onError } = this.#deps;
    const { sessions } = attached.access(projectId, sessionId);
    let missing: readonly string[] = [];
    const ended = await sessions.end(projectId, sessionId, async (session) => {
      if (!isMeant(session)) return undefined;
      const ending = await this.#endingOf(await releaseOf(session), session, reason);
      missing = ending.missingVariables;
      return ending;
    });
    if (!ended) return false;
    await usage
      .updateCost(ended.instanceId)
      .catch((error: unknown) => onError(error, 'cost of a session not stored'));
    if (sessionPolicy(ended.state).publishesEvents) liveEvents?.publish(sessionEnded(ended, reason, missing));
    onEnded();
    return true;
  }

  /** @see ConversationEngine.endIdle */
  async endIdle({ projectId, sessionId, instanceId, turn }: IdleSession): Promise<boolean> {
    const held = await this.#deps.attached.access(projectId, sessionId).lock.acquire(projectId, sessionId);
    try {
      const isMeant = (live: Session) => live.instanceId === instanceId && live.turn === turn;
      return await this.end(projectId, sessionId, 'idle', isMeant);
    } finally {
      await held.release();
    }
  }

  /** @returns Undefined for a session without a call. */
  async callOf({ projectId, callId }: Session): Promise<SessionCall | undefined> {
    return callId === null ? undefined : await this.#deps.callOf(projectId, callId);
  }

  /** Returns the post-session work that is due. */
  async #endingOf(
    { agent, pathway }: AgentRelease,
    session: Session,
    reason: EndReason,
  ): Promise<SessionEnding> {
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

/** Counts what the sessions of a project use, and stores what one of them has used beside its turns, and its cost. */
export interface UsageRecorder extends Pick<HistoryStore, 'addUsage' | 'updateCost'> {
  /** Counts a new session. @throws {CallwayError} 429 `quota_exceeded` */
  admit(projectId: string): Promise<void>;
  /** @property characters - Synthesized characters. */
  add(
    projectId: string,
    used: { readonly chats?: number; readonly tokens?: number; readonly characters?: number },
  ): void;
}
