import { answerByRules } from '../../../offline/chat/ruleModel.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { ChatProvider } from '../../models/chat/chatClient.ts';
import type { ChatEvent, ChatRequest, Usage } from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';

/** Shown wherever a model's name is shown, so that its answers are not mistaken for a language model's. */
const REHEARSAL_MODEL = 'callway-rehearsal';
const PROVIDER_NAME = 'rehearsal';

/** The chat model for an installation without one. */
export function createRehearsalChat({ makeId }: { readonly makeId: MakeId }): ChatProvider {
  return {
    name: PROVIDER_NAME,
    onlyModel: REHEARSAL_MODEL,
    async open(request) {
      const events = answer(request, makeId);
      return { chunks: events, decode: (event: ChatEvent) => [event], isComplete: false, finish: () => [] };
    },
    toModelError: (cause, beforeFirstToken) =>
      new ModelError('model_unavailable', 'The rehearsal model failed', { beforeFirstToken, cause }),
    close: async () => undefined,
  };
}

function* answer(request: ChatRequest, makeId: MakeId): Generator<ChatEvent> {
  const result = answerByRules(request);
  if (result.kind === 'text') {
    for (const text of result.tokens) yield { type: 'text', text };
    yield {
      type: 'end',
      finishReason: 'stop',
      model: REHEARSAL_MODEL,
      usage: usageOf(request, result.tokens.join('')),
    };
    return;
  }
  const call = { index: 0, id: `call_${makeId().replaceAll('-', '')}`, name: result.name };
  yield { type: 'tool_call_delta', ...call, argumentsDelta: result.arguments };
  yield { type: 'tool_call', ...call, arguments: result.arguments };
  yield {
    type: 'end',
    finishReason: 'tool_calls',
    model: REHEARSAL_MODEL,
    usage: usageOf(request, result.arguments),
  };
}

/** Counts words as tokens, so that clients that count tokens can be tested offline too. */
function usageOf({ messages }: ChatRequest, answered: string): Usage {
  const promptTokens = messages.reduce((sum, { content }) => sum + wordsIn(content ?? ''), 0);
  const completionTokens = wordsIn(answered);
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}

function wordsIn(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
