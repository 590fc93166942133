import type { AgentRelease } from '../../agents/release.ts';
import type { ChatMessage } from '../../providers/ports/chatMessage.ts';
import { talkMessages } from '../history/contextWindow.ts';
import { askForJson, createUsageMeter } from '../prompt/modelCalls.ts';
import { executionMode, type ModelChoice } from '../prompt/models.ts';
import { askForSummary } from '../prompt/questions.ts';
import { rehearsalOptions, type Situation } from '../prompt/rehearsal.ts';
import { judgeAnswer, judgeFormat } from '../prompt/structuredOutput.ts';
import type { SessionMessage } from '../session/session.ts';
import type { MemoryStore } from '../session/sessionStore.ts';
import { customerOf } from './customer.ts';

const LONGEST_MEMORY_CHARACTERS = 4_000;

const JUDGE_PROMPT =
  'Judge the conversation above by these criteria. For each: whether it is met, and in one sentence why.';

/** What is left of a session that has ended. */
export interface EndedSession {
  readonly projectId: string;
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

/** Does for an ended session what needs a model: judges it by the agent's criteria, and keeps what was learnt. */
export function createPostSessionTasks(deps: PostSessionDeps) {
  return {
    /** @throws {ModelError} */
    async evaluate(session: EndedSession, signal: AbortSignal): Promise<Evaluation | undefined> {
      const criteria = session.release.agent.postEvaluationConfig?.criteria;
      if (!criteria || !session.messages.some(({ role }) => role === 'assistant')) return undefined;
      const list = criteria.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
      const talk = talkOf(session);
      const { results } = await askForJson(
        deps.models.chat,
        {
          model: modelName(deps, session),
          messages: [...talk, { role: 'system', content: `${JUDGE_PROMPT}\n${list}` }],
          jsonSchema: judgeFormat(criteria),
          temperature: 0,
          purpose: 'judge',
          ...rehearsalOptions({ ...situationOf(session), criteria }),
        },
        judgeAnswer,
        createUsageMeter(),
        signal,
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
    /** Adds the session to what is known of its customer. Never fails: what cannot be kept is forgotten. */
    async remember(session: EndedSession, signal: AbortSignal): Promise<void> {
      const { agent } = session.release;
      const customer = agent.memoryEnabled ? customerOf(session.variables, session.phoneNumber) : undefined;
      if (customer === undefined || session.messages.length === 0) return;
      try {
        const known = await deps.memory.find(session.projectId, customer);
        const summary = await askForSummary({
          model: deps.models.chat,
          modelName: modelName(deps, session),
          meter: createUsageMeter(),
          signal,
          talk: [
            ...(known
              ? [{ role: 'system' as const, content: `Known of this person before:\n${known}` }]
              : []),
            ...talkOf(session),
          ],
          situation: situationOf(session),
        });
        const facts = JSON.stringify(session.variables);
        const text = [summary, facts === '{}' ? '' : `Facts: ${facts}`].filter(Boolean).join('\n');
        await deps.memory.keep(session.projectId, customer, text.slice(0, LONGEST_MEMORY_CHARACTERS));
      } catch (error) {
        deps.onError(error, 'a session was not remembered');
      }
    },
  };
}

function talkOf(session: EndedSession): ChatMessage[] {
  return talkMessages({ messages: session.messages, summary: null });
}

function situationOf({ variables, messages }: EndedSession): Situation {
  const last = messages.findLast(({ role }) => role === 'user')?.content;
  return { variables, ...(last ? { lastUserText: last } : {}) };
}

function modelName({ models }: PostSessionDeps, { release }: EndedSession): string {
  return models[executionMode(release.agent)];
}
