import type { StreamedResponse } from '../failover/streamWithRetry.ts';
import type { ChatEvent, ChatRequest } from '../ports/chatModel.ts';
import { SpokenText, spokenText } from './thoughts.ts';

/**
 * Keeps the thoughts of one endpoint's models out of their answers, and out of the conversations that they are sent.
 */
export class SpokenAnswers {
  /** The models whose last answer had only the end of a thought, since their template begins it. */
  readonly #thinking = new Set<string>();

  /** Conversations from outside may have thoughts in them. */
  request(request: ChatRequest): ChatRequest {
    return {
      ...request,
      messages: request.messages.map((message) =>
        message.role === 'assistant' && message.content
          ? { ...message, content: spokenText(message.content) }
          : message,
      ),
    };
  }

  of(
    { model, jsonSchema, responseFormat }: ChatRequest,
    response: StreamedResponse<ChatEvent>,
  ): StreamedResponse<ChatEvent> {
    const spoken = new SpokenText(this.#thinking.has(model));
    let hasCalls = false;
    const finish = () => {
      const rest = spoken.finish(hasCalls);
      // A server that holds an answer to a format lets it have no thought.
      if (spoken.hasNoThought && rest !== '' && !jsonSchema && !responseFormat) this.#thinking.delete(model);
      return rest;
    };
    const pass = (event: ChatEvent): readonly ChatEvent[] => {
      if (event.type === 'tool_call') hasCalls = true;
      if (event.type === 'end') return [...textEvents(finish()), event];
      if (event.type !== 'text') return [event];
      const { text, endsThought } = spoken.add(event.text);
      if (endsThought) this.#thinking.add(model);
      return [...(endsThought ? [THOUGHT] : []), ...textEvents(text)];
    };
    return {
      chunks: response.chunks,
      decode: (chunk) => response.decode(chunk).flatMap(pass),
      get isComplete() {
        return response.isComplete;
      },
      finish: () => response.finish().flatMap(pass),
    };
  }
}

const THOUGHT: ChatEvent = { type: 'thought' };

function textEvents(text: string): ChatEvent[] {
  return text === '' ? [] : [{ type: 'text', text }];
}
