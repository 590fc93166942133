export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** Instructions of Callway, the pathway or the chat API's client. */
interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

/** Text, tool calls or both; `content` may be null only beside tool calls. */
interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly toolCalls?: readonly ToolCall[];
}

/** The result of the tool call `toolCallId`. */
interface ToolMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly content: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it; may be invalid. */
  readonly arguments: string;
}
