import type { Situation } from '../../../offline/chat/request.ts';
import { answerByRules } from '../../../offline/chat/ruleModel.ts';
import type { MakeId } from '../../base/ids.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../ports/chatModel.ts';

/** Shown wherever a model's name is shown, so that its answers are not mistaken for a language model's. */
export const REHEARSAL_MODEL = 'callway-rehearsal';
const PROVIDER_NAME = 'rehearsal';

/** The chat model for an installation without one. It reads `providerOptions.rehearsal`, a {@link Situation}. */
export function createRehearsalModel({ makeId }: { readonly makeId: MakeId }): ChatModel {
  return {
    name: PROVIDER_NAME,
    async *stream(request, signal) {
      for (const event of answer(request, makeId)) {
        signal.throwIfAborted();
        yield event;
      }
    },
  };
}

function* answer(request: ChatRequest, makeId: MakeId): Generator<ChatEvent> {
  const situation = request.providerOptions?.[PROVIDER_NAME] as Situation | undefined;
  const answer = answerByRules({ ...request, ...(situation ? { situation } : {}) });
  if (answer.kind === 'text') {
    for (const text of answer.tokens) yield { type: 'text', text };
    yield { type: 'end', finishReason: 'stop', model: REHEARSAL_MODEL };
    return;
  }
  const call = { index: 0, id: `call_${makeId().replaceAll('-', '')}`, name: answer.name };
  yield { type: 'tool_call_delta', ...call, argumentsDelta: answer.arguments };
  yield { type: 'tool_call', ...call, arguments: answer.arguments };
  yield { type: 'end', finishReason: 'tool_calls', model: REHEARSAL_MODEL };
}
