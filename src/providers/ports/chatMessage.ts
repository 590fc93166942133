/** One message of a conversation, as a chat model reads it. */
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** Instructions of the product, the pathway or the caller's application. */
export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

/** What the person said. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

/** What the model said, called, or both; `content` may be null only beside tool calls. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly toolCalls?: readonly ToolCall[];
}

/** What a tool gave back for the call with the id `toolCallId`. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly content: string;
}

/** The model's wish to have a tool run. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text of one object, as the model wrote it: to be parsed and checked before use. */
  readonly arguments: string;
}
