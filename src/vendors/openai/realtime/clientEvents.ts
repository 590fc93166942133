import type { ChatMessage } from '../../../models/ports/chatMessage.ts';
import type { ToolDefinition } from '../../../models/ports/toolDefinition.ts';

/** A message to a server of the Realtime API. */
export interface ClientEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Builds the session's settings, which are sent once. Callway detects the turns, not the server. */
export function sessionFormats(options: {
  readonly sampleRateHz: number;
  readonly transcriptionModel: string;
  readonly language: string | undefined;
  readonly voice: string | undefined;
}) {
  const { sampleRateHz, transcriptionModel, language, voice } = options;
  const format = { type: 'audio/pcm', rate: sampleRateHz };
  const transcription = { model: transcriptionModel, language };
  return {
    output_modalities: ['audio'],
    audio: { input: { format, transcription, turn_detection: null }, output: { format, voice } },
  };
}

export function functionTools(tools: readonly ToolDefinition[]) {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
  }));
}

export function functionOutput(callId: string, output: string): ClientEvent {
  return itemCreated({ type: 'function_call_output', call_id: callId, output });
}

/**
 * Adds a message to the conversation. Tool calls of another model come with their results.
 *
 * @param isKnownCall - Returns true when the model made this tool call itself.
 */
export function messageItems(message: ChatMessage, isKnownCall: (callId: string) => boolean): ClientEvent[] {
  switch (message.role) {
    case 'tool':
      return [functionOutput(message.toolCallId, message.content)];
    case 'assistant': {
      const said = message.content ? [textItem('assistant', 'output_text', message.content)] : [];
      const calls = (message.toolCalls ?? [])
        .filter(({ id }) => !isKnownCall(id))
        .map(({ id, name, arguments: given }) =>
          itemCreated({ type: 'function_call', call_id: id, name, arguments: given }),
        );
      return [...said, ...calls];
    }
    default:
      return [textItem(message.role, 'input_text', message.content)];
  }
}

function textItem(role: ChatMessage['role'], type: string, text: string): ClientEvent {
  return itemCreated({ type: 'message', role, content: [{ type, text }] });
}

function itemCreated(item: Readonly<Record<string, unknown>>): ClientEvent {
  return { type: 'conversation.item.create', item };
}
