import type { FunctionCall } from '../../engine/session/session.ts';
import type { TurnDone } from '../../engine/turn/turn.ts';
import type { Usage } from './answers.ts';

export const STREAM_DONE = 'data: [DONE]\n\n';

/** What is the same in all of an answer's chunks. */
export interface ChunkIdentity {
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
  readonly sessionId: string;
}

/** Writes the chunks of one streamed completion as server-sent events. */
export interface ChunkWriter {
  role(): string;
  text(text: string): string;
  toolCall(index: number, call: FunctionCall): string;
  finish(reason: TurnDone['finishReason']): string;
  usage(usage: Usage): string;
}

/**
 * Prepares what stands before and after each piece of text, so that a token costs one `JSON.stringify` of itself.
 *
 * @param announcesUsage - Whether a last chunk with the usage will come; all others then carry `"usage": null`.
 */
export function createChunkWriter(identity: ChunkIdentity, announcesUsage: boolean): ChunkWriter {
  const { id, created, model, sessionId } = identity;
  const head = JSON.stringify({
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    session_id: sessionId,
  }).slice(0, -1);
  const prefix = `data: ${head},"choices":[{"index":0,"delta":`;
  const suffix = `}]${announcesUsage ? ',"usage":null' : ''}}\n\n`;
  const textPrefix = `${prefix}{"content":`;
  const unfinished = `,"finish_reason":null${suffix}`;
  const textSuffix = `}${unfinished}`;
  const delta = (value: unknown) => prefix + JSON.stringify(value) + unfinished;
  return {
    role: () => delta({ role: 'assistant', content: '' }),
    text: (text) => textPrefix + JSON.stringify(text) + textSuffix,
    toolCall: (index, { id: callId, type, function: { name, arguments: args } }) =>
      delta({ tool_calls: [{ index, id: callId, type, function: { name, arguments: '' } }] }) +
      delta({ tool_calls: [{ index, function: { arguments: args } }] }),
    finish: (reason) => `${prefix}{},"finish_reason":"${reason}"${suffix}`,
    usage: (usage) => `data: ${head},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`,
  };
}

/** A failure after the stream began; nothing comes after it. */
export function failureEvent(failure: { readonly message: string; readonly code: string }): string {
  return `data: ${JSON.stringify({ error: failure })}\n\n`;
}
