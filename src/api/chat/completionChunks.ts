import type { FunctionCall } from '../../engine/session/session.ts';
import type { TurnDone } from '../../engine/turn/turn.ts';
import type { Usage } from './completionSchemas.ts';

export const STREAM_DONE = 'data: [DONE]\n\n';

/** The fields that all chunks of a response share. */
export interface ChunkIdentity {
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
  readonly sessionId: string;
}

/** Formats the chunks of one streamed completion as server-sent events. */
export class CompletionChunks {
  readonly #head: object;
  readonly #tail: object;

  /** @param announcesUsage - True when a last chunk with the usage follows; all others then carry `"usage": null`. */
  constructor({ id, created, model, sessionId }: ChunkIdentity, announcesUsage: boolean) {
    this.#head = { id, object: 'chat.completion.chunk', created, model, session_id: sessionId };
    this.#tail = announcesUsage ? { usage: null } : {};
  }

  role(): string {
    return this.#chunk({ role: 'assistant', content: '' });
  }

  text(content: string): string {
    return this.#chunk({ content });
  }

  toolCall(index: number, { id, type, function: { name, arguments: args } }: FunctionCall): string {
    const opening = { index, id, type, function: { name, arguments: '' } };
    return (
      this.#chunk({ tool_calls: [opening] }) +
      this.#chunk({ tool_calls: [{ index, function: { arguments: args } }] })
    );
  }

  finish(reason: TurnDone['finishReason']): string {
    return this.#chunk({}, reason);
  }

  usage(usage: Usage): string {
    return toEvent({ ...this.#head, choices: [], usage });
  }

  #chunk(delta: object, finishReason: TurnDone['finishReason'] | null = null): string {
    const choices = [{ index: 0, delta, finish_reason: finishReason }];
    return toEvent({ ...this.#head, choices, ...this.#tail });
  }
}

/** The last event of a stream that failed. @param body - Makes the event of an error response; OpenAI's has its `error` as an object. */
export function failureEvent({ error, code }: Readonly<Record<string, unknown>>): string {
  return toEvent({ error: typeof error === 'object' ? error : { message: error, code } });
}

function toEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
