import type { ChatMessage } from '../../models/ports/chatMessage.ts';

/** What one connection's model has heard and said, to tell it the rest of the conversation and nothing twice. */
export class KnownConversation {
  /** Utterances, in order. */
  readonly #heard: string[] = [];
  #said = '';
  readonly #calls = new Set<string>();
  readonly #told = new Set<string>();

  heard(text: string): void {
    this.#heard.push(text);
  }

  said(text: string): void {
    this.#said += text;
  }

  called(callId: string): void {
    this.#calls.add(callId);
  }

  /** The messages that the model does not know, which it knows from now on. */
  takeNews(messages: readonly ChatMessage[]): ChatMessage[] {
    const counts = new Map<string, number>();
    return messages.flatMap((message): ChatMessage[] => {
      const news = this.#unknown(message);
      if (!news) return [];
      const text = JSON.stringify(news);
      const count = (counts.get(text) ?? 0) + 1;
      counts.set(text, count);
      // The same may be said again.
      const key = `${count} ${text}`;
      if (this.#told.has(key)) return [];
      this.#told.add(key);
      return [news];
    });
  }

  #unknown(message: ChatMessage): ChatMessage | undefined {
    switch (message.role) {
      case 'user':
        return this.#isHeard(message.content) ? undefined : message;
      case 'assistant': {
        // A turn's lines may be of several voices.
        const lines = (message.content ?? '').split('\n').filter((line) => !this.#said.includes(line.trim()));
        const toolCalls = message.toolCalls?.filter(({ id }) => !this.#calls.has(id)) ?? [];
        if (lines.length === 0 && toolCalls.length === 0) return undefined;
        return {
          role: 'assistant',
          content: lines.length > 0 ? lines.join('\n') : null,
          toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
        };
      }
      default:
        return message;
    }
  }

  /** A turn may have answered several utterances. */
  #isHeard(content: string): boolean {
    return this.#heard.some((_, from) => {
      let text = '';
      return this.#heard.slice(from).some((utterance) => {
        text = text === '' ? utterance : `${text} ${utterance}`;
        return text === content;
      });
    });
  }
}
