import type { ZodType } from 'zod';
import type { Situation } from '../../../offline/chat/request.ts';
import type { AgentConfig } from '../../agents/agentConfig.ts';
import type { ChatModel, ChatRequest, Usage } from '../../providers/ports/chatModel.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import type { TurnUsage } from '../turn/turn.ts';
import type { ModelSpan } from '../turn/turnTrace.ts';
import { MOVE_TOOL } from './structuredOutput.ts';

export type { Situation };

export type ExecutionMode = 'smart' | 'balance' | 'turbo';

/** The chat model, and the model name that each execution mode uses. */
export interface ModelChoice extends Readonly<Record<ExecutionMode, string>> {
  readonly chat: ChatModel;
}

export function executionMode(agent: Pick<AgentConfig, 'executionMode'>): ExecutionMode {
  return agent.executionMode ?? 'balance';
}

/** What every model request of a turn or a post-session task shares. */
export interface ModelAccess {
  readonly chat: ChatModel;
  readonly modelName: string;
  readonly usage: UsageMeter;
  readonly signal: AbortSignal;
  /** Absent outside of a traced turn. */
  readonly startSpan?: (request: ChatRequest) => ModelSpan;
}

/** Adds up the token usage of several requests. */
export class UsageMeter {
  #total: TurnUsage = { modelCalls: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0 };

  add({ promptTokens = 0, completionTokens = 0 }: Partial<Usage> = {}): void {
    const total = this.#total;
    this.#total = {
      modelCalls: total.modelCalls + 1,
      promptTokens: total.promptTokens + promptTokens,
      completionTokens: total.completionTokens + completionTokens,
      totalTokens: total.totalTokens + promptTokens + completionTokens,
    };
  }

  get total(): TurnUsage {
    return this.#total;
  }
}

/** The rehearsal model follows rules, which do not read prompts: it is given the facts behind them. */
export function rehearsalOptions(situation: Situation): Pick<ChatRequest, 'providerOptions'> {
  return { providerOptions: { rehearsal: { ...situation, moveTool: MOVE_TOOL } satisfies Situation } };
}

/**
 * Asks a model for one JSON document.
 *
 * @throws {ModelError} `model_malformed` when the answer is not JSON or does not match the schema.
 */
export async function askForJson<Answer>(
  access: ModelAccess,
  request: ChatRequest,
  schema: ZodType<Answer>,
): Promise<Answer> {
  const parsed = schema.safeParse(parseJson(await askForText(access, request)));
  if (parsed.success) return parsed.data;
  throw new ModelError('model_malformed', 'The model answered with something other than the JSON asked for', {
    beforeFirstToken: false,
    cause: parsed.error,
  });
}

/** Asks a model for a whole text. @throws {ModelError} */
export async function askForText(access: ModelAccess, request: ChatRequest): Promise<string> {
  const { chat, usage, signal, startSpan } = access;
  const span = startSpan?.(request);
  let text = '';
  try {
    for await (const event of chat.stream(request, signal)) {
      span?.onEvent();
      if (event.type === 'text') text += event.text;
      if (event.type === 'end') usage.add(event.usage);
    }
    return text;
  } catch (error) {
    if (!signal.aborted) span?.recordError(error);
    throw error;
  } finally {
    span?.end();
  }
}

/** Some models wrap their JSON into a Markdown fence or into prose. */
function parseJson(text: string): unknown {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  try {
    return JSON.parse(from >= 0 && to > from ? text.slice(from, to + 1) : text);
  } catch {
    return undefined;
  }
}
