import type { AgentRelease } from '../../agents/releases/release.ts';
import { contextMessages } from '../history/contextWindow.ts';
import { askForSummary } from '../prompt/questions.ts';
import type { SessionMessage } from '../session/session.ts';
import { chosenChat, type ModelChoice, UsageMeter } from '../turn/turnContext.ts';
import { customerOf, type MemoryStore } from './customerMemory.ts';
import { type AfterwardsDeps, reportAfterwards } from './usageAfterwards.ts';

const LONGEST_MEMORY_CHARACTERS = 4_000;

/** An ended session, for the models that judge and remember it. */
export interface EndedSession {
  readonly projectId: string;
  readonly instanceId: string;
  readonly release: AgentRelease;
  readonly startedAt: string;
  readonly messages: readonly SessionMessage[];
  readonly variables: Readonly<Record<string, unknown>>;
  /** The customer's, for a session with a call. */
  readonly phoneNumber?: string | undefined;
}

export interface RememberDeps extends AfterwardsDeps {
  readonly models: ModelChoice;
  readonly memory: MemoryStore;
}

/** Adds a session to the customer's memory. Never rejects: a failure leaves the memory as it was. */
export async function rememberSession(
  deps: RememberDeps,
  session: EndedSession,
  signal: AbortSignal,
): Promise<void> {
  const { models, memory, onError } = deps;
  const { projectId, instanceId, release, messages, variables, phoneNumber } = session;
  const customer = release.agent.memoryEnabled ? customerOf(variables, phoneNumber) : undefined;
  if (customer === undefined || messages.length === 0) return;
  const usage = new UsageMeter();
  try {
    const known = await memory.find(projectId, customer);
    const before = known
      ? [{ role: 'system' as const, content: `Known of this person before:\n${known}` }]
      : [];
    const summary = await askForSummary({
      access: {
        ...chosenChat(models, projectId, release.agent, undefined),
        usage,
        signal,
      },
      messages: [...before, ...contextMessages({ messages, summary: null })],
    });
    const facts = JSON.stringify(variables);
    const text = [summary, facts === '{}' ? '' : `Facts: ${facts}`].filter(Boolean).join('\n');
    await memory.keep(projectId, customer, text.slice(0, LONGEST_MEMORY_CHARACTERS), instanceId);
  } catch (error) {
    onError(error, 'customer memory not updated');
  } finally {
    await reportAfterwards(deps, session, usage);
  }
}
