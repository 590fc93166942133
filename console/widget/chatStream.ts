/** What a chat answers: parts of the text as they come, and its session. */
export interface ChatHandlers {
  onSession(sessionId: string): void;
  onText(text: string): void;
}

/** The agent failed in the middle of its answer. */
export class ChatFailedError extends Error {
  override readonly name = 'ChatFailedError';
}

interface Chunk {
  readonly session_id?: string;
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly error?: { readonly message: string };
}

/**
 * Reads a streamed chat completion to its end.
 *
 * @throws {ChatFailedError}
 */
export async function readChatStream(
  { body }: Pick<Response, 'body'>,
  { onSession, onText }: ChatHandlers,
): Promise<void> {
  for await (const data of eventsOf(body)) {
    if (data === '[DONE]') return;
    const { session_id: sessionId, choices, error } = JSON.parse(data) as Chunk;
    if (error) throw new ChatFailedError(error.message);
    if (sessionId !== undefined) onSession(sessionId);
    const text = choices?.[0]?.delta?.content;
    if (text) onText(text);
  }
}

/** The `data` of each event; the API writes one line for each. */
async function* eventsOf(body: Response['body']): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) return;
    const lines = (rest + part.value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length);
  }
}
