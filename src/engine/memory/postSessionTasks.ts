import type { AgentRelease } from '../../agents/release.ts';
import { contextMessages } from '../history/contextWindow.ts';
import { askForJson, askForSummary, type Question } from '../prompt/questions.ts';
import { judgeAnswer, judgeFormat } from '../prompt/structuredOutput.ts';
import type { SessionMessage } from '../session/session.ts';
import { chosenChat, type ModelChoice, UsageMeter } from '../turn/turnContext.ts';
import { customerOf, type MemoryStore } from './customerMemory.ts';

const LONGEST_MEMORY_CHARACTERS = 4_000;

const JUDGE_PROMPT =
  'Judge the conversation above by these criteria. For each: whether it is met, and in one sentence why.';

/** What the post-session tasks need of an ended session. */
export interface EndedSession {
  readonly projectId: string;
  readonly instanceId: string;
  readonly release: AgentRelease;
  readonly messages: readonly SessionMessage[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly phoneNumber?: string;
}

export interface Evaluation {
  readonly criteria: readonly { readonly name: string; readonly passed: boolean; readonly reason: string }[];
}

export interface PostSessionDeps {
  readonly models: ModelChoice;
  readonly memory: MemoryStore;
  readonly onError: (error: unknown, what: string) => void;
}

/** The post-session tasks that need a model: evaluation by the agent's criteria, and the customer's memory. */
export function createPostSessionTasks(deps: PostSessionDeps) {
  return {
    /** @returns The evaluation; undefined when there are no criteria or the agent said nothing. @throws {ModelError} */
    async evaluate(session: EndedSession, signal: AbortSignal): Promise<Evaluation | undefined> {
      const criteria = session.release.agent.postEvaluationConfig?.criteria;
      if (!criteria || !session.messages.some(({ role }) => role === 'assistant')) return undefined;
      const list = criteria.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
      const { access, messages } = questionAbout(deps, session, signal);
      const { results } = await askForJson(
        access,
        {
          model: access.modelName,
          messages: [...messages, { role: 'system', content: `${JUDGE_PROMPT}\n${list}` }],
          jsonSchema: judgeFormat(criteria),
          temperature: 0,
          purpose: 'judge',
        },
        judgeAnswer,
      );
      return {
        criteria: criteria.map(({ name }) => {
          const verdict = results.find((result) => result.name === name);
          return {
            name,
            passed: verdict?.passed ?? false,
            reason: verdict?.reason ?? 'The model gave no verdict.',
          };
        }),
      };
    },
    /** Adds the session to the customer's memory. Never rejects: a failure leaves the memory as it was. */
    async remember(session: EndedSession, signal: AbortSignal): Promise<void> {
      const { projectId, instanceId, release, variables, phoneNumber } = session;
      const customer = release.agent.memoryEnabled ? customerOf(variables, phoneNumber) : undefined;
      if (customer === undefined || session.messages.length === 0) return;
      try {
        const known = await deps.memory.find(projectId, customer);
        const question = questionAbout(deps, session, signal);
        const before = known
          ? [{ role: 'system' as const, content: `Known of this person before:\n${known}` }]
          : [];
        const summary = await askForSummary({ ...question, messages: [...before, ...question.messages] });
        const facts = JSON.stringify(variables);
        const text = [summary, facts === '{}' ? '' : `Facts: ${facts}`].filter(Boolean).join('\n');
        await deps.memory.keep(projectId, customer, text.slice(0, LONGEST_MEMORY_CHARACTERS), instanceId);
      } catch (error) {
        deps.onError(error, 'customer memory not updated');
      }
    },
  };
}

function questionAbout({ models }: PostSessionDeps, session: EndedSession, signal: AbortSignal): Question {
  const { release, messages } = session;
  return {
    access: {
      ...chosenChat(models, session.projectId, release.agent, undefined),
      usage: new UsageMeter(),
      signal,
    },
    messages: contextMessages({ messages, summary: null }),
  };
}
