import type { ZodType } from 'zod';

import type { ChatEvent, ChatModel, ChatRequest, Usage } from '../../providers/ports/chatModel.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import type { TurnUsage } from '../turn/turn.ts';

/** What several calls of one turn have used. */
export interface UsageMeter {
  add(usage: Usage | undefined): void;
  total(): TurnUsage;
}

export function createUsageMeter(): UsageMeter {
  let modelCalls = 0;
  let promptTokens = 0;
  let completionTokens = 0;
  return {
    add(usage) {
      modelCalls += 1;
      promptTokens += usage?.promptTokens ?? 0;
      completionTokens += usage?.completionTokens ?? 0;
    },
    total: () => ({
      modelCalls,
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
    }),
  };
}

/**
 * Asks a model for one JSON document.
 *
 * @throws {ModelError} `model_malformed` when what came is none, or not of the form.
 */
export async function askForJson<Answer>(
  model: ChatModel,
  request: ChatRequest,
  schema: ZodType<Answer>,
  meter: UsageMeter,
  signal: AbortSignal,
): Promise<Answer> {
  const text = await collectText(model.stream(request, signal), meter);
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new ModelError('model_malformed', 'The model answered with something other than the JSON asked for', {
    beforeFirstToken: false,
    cause: parsed.error,
  });
}

/** Reads a whole answer, words only. */
export async function collectText(events: AsyncIterable<ChatEvent>, meter: UsageMeter): Promise<string> {
  let text = '';
  for await (const event of events) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'end') meter.add(event.usage);
  }
  return text;
}

/** Some models put their JSON into a fence of Markdown, or words around it. */
function parseJson(text: string): unknown {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  try {
    return JSON.parse(from >= 0 && to > from ? text.slice(from, to + 1) : text);
  } catch {
    return undefined;
  }
}
