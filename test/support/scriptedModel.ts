import type { ChatProvider } from '../../src/models/chat/chatClient.ts';
import type { ChatEvent, ChatModel, ChatRequest, FinishReason } from '../../src/models/ports/chatModel.ts';

/** What the model says to one request: words, tool calls, or a failure after them. */
export interface ScriptedAnswer {
  /** Written before the words, as a thought of which the end alone is marked. */
  readonly thought?: string;
  readonly text?: string | readonly string[];
  readonly calls?: readonly { readonly name: string; readonly arguments?: unknown }[];
  readonly json?: unknown;
  readonly finishReason?: FinishReason;
  readonly fail?: Error;
  /** Waits for this before the first word. */
  readonly after?: Promise<unknown>;
  /** Never ends by itself once its words are out. */
  readonly hang?: boolean;
}

export interface ScriptedModel extends ChatModel {
  readonly requests: ChatRequest[];
  /** How many requests were aborted or left. */
  readonly abortedRequests: () => number;
}

/** A chat model that answers by a function of the request. */
export function scriptedModel(
  answer: (request: ChatRequest, index: number) => ScriptedAnswer,
): ScriptedModel {
  const requests: ChatRequest[] = [];
  let left = 0;
  return {
    name: 'scripted',
    requests,
    abortedRequests: () => left,
    async *stream(request, signal): AsyncGenerator<ChatEvent> {
      const script = answer(request, requests.length);
      requests.push(request);
      let isDone = false;
      try {
        await script.after;
        signal.throwIfAborted();
        yield* said(script, requests.length);
        if (script.fail) throw script.fail;
        if (script.hang) await aborted(signal);
        isDone = true;
        yield {
          type: 'end',
          finishReason: script.finishReason ?? (script.calls?.length ? 'tool_calls' : 'stop'),
          model: request.model,
          usage: { promptTokens: 10, completionTokens: 2, totalTokens: 12 },
        };
      } finally {
        if (!isDone) left += 1;
      }
    },
  };
}

/** A model as a provider, for tests of what stands above one. */
export function asProvider(model: ChatModel): ChatProvider {
  return {
    name: model.name,
    open: async (request, signal) => ({
      chunks: model.stream(request, signal),
      decode: (event: ChatEvent) => [event],
      isComplete: false,
      finish: () => [],
    }),
    toModelError(error) {
      throw error;
    },
    close: async () => undefined,
  };
}

/** Title of the pathway node that the request is for. */
export function nodeOf({ messages }: ChatRequest): string | undefined {
  const prompts = messages.map(
    ({ content }) => /You are at this step:\n## (.*) \(\w+\)/.exec(content ?? '')?.[1],
  );
  return prompts.findLast((title) => title !== undefined);
}

/** Ids of the edges that the request lets the model take. */
export function edgesOf({ jsonSchema, tools = [] }: ChatRequest): readonly string[] {
  const schema = jsonSchema?.schema ?? tools.find(({ name }) => name === 'move_to')?.parameters;
  const { edge } = (schema?.properties ?? {}) as { readonly edge?: { readonly enum: (string | null)[] } };
  return (edge?.enum ?? []).filter((id) => id !== null);
}

/** The words, then the calls of tools, whose ids tell of which request they are. */
function* said({ thought, text, json, calls = [] }: ScriptedAnswer, request: number): Generator<ChatEvent> {
  if (thought !== undefined) yield* [{ type: 'text', text: thought }, { type: 'thought' }] as const;
  const words = json === undefined ? text : JSON.stringify(json);
  for (const piece of [words ?? []].flat()) yield { type: 'text', text: piece };
  for (const [index, call] of calls.entries()) {
    const { name, arguments: given = {} } = call;
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    yield { type: 'tool_call', index, id: `call_${request}_${index}`, name, arguments: text };
  }
}

/** @throws The signal's reason, once there is one. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
