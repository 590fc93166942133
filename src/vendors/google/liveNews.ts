import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { SpeechToSpeechRequest } from '../../models/ports/speechToSpeech.ts';

/** Collects what a connection's model must be told before it answers. */
export class LiveNews {
  /** The person has not heard all of the last answer, and the API cannot cut it. */
  isCut = false;
  /** The paragraphs of the instructions that were sent. */
  readonly #sent = new Set<string>();
  #kept: readonly ChatMessage[] = [];

  /**
   * Returns the conversation so far, for a new connection. @param isHeard - True when the person's last words come as
   * audio.
   */
  untilNow({ instructions, messages }: SpeechToSpeechRequest, isHeard: boolean): readonly ChatMessage[] {
    this.#sent.clear();
    this.#takeParagraphs(instructions);
    this.#kept = [];
    this.isCut = false;
    return isHeard && messages.at(-1)?.role === 'user' ? messages.slice(0, -1) : messages;
  }

  /** Returns what the model of the same connection does not know yet. */
  take({ instructions, messages, news }: SpeechToSpeechRequest): readonly ChatMessage[] {
    const notes = this.#takeParagraphs(instructions);
    if (this.isCut) {
      const heard = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
      notes.unshift(`You were interrupted. The person heard no more of your last words than: “${heard}”`);
    }
    this.isCut = false;
    this.keep(news);
    const kept = this.#kept;
    this.#kept = [];
    return [...notes.map((content) => ({ role: 'system' as const, content })), ...kept];
  }

  /** Keeps messages for the next answer. */
  keep(news: readonly ChatMessage[]): void {
    this.#kept = [...this.#kept, ...news.filter(({ role }) => role !== 'tool')];
  }

  /** @returns The new paragraphs, without the last one, which is the time of the day. */
  #takeParagraphs(instructions: string): string[] {
    const added = instructions
      .split('\n\n')
      .slice(0, -1)
      .filter((one) => !this.#sent.has(one));
    for (const paragraph of added) this.#sent.add(paragraph);
    return added;
  }
}
