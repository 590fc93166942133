import { type ConversationItems, messageItem, type SendEvent } from './conversationItems.ts';

/** What the caller says: one item an utterance, with its transcript. */
export class CallerItem {
  readonly #items: ConversationItems;
  readonly #send: SendEvent;
  #id: string | undefined;
  #isSpeaking = false;
  #isCommitted = false;

  constructor(items: ConversationItems, send: SendEvent) {
    this.#items = items;
    this.#send = send;
  }

  /** The caller begins to speak. */
  start(audio_start_ms: number): void {
    this.#open();
    this.#isSpeaking = true;
    this.#send('input_audio_buffer.speech_started', { audio_start_ms, item_id: this.#id });
  }

  /** The caller ceases to speak. No effect unless {@link start} was called. */
  stop(audio_end_ms: number): void {
    if (!this.#isSpeaking) return;
    this.#isSpeaking = false;
    this.#send('input_audio_buffer.speech_stopped', { audio_end_ms, item_id: this.#id });
    if (!this.#isCommitted) this.#commit();
  }

  /** The client ends the caller's turn. */
  commit(): void {
    this.#open();
    this.#commit();
  }

  /** What the utterance is now taken for; it comes again when the caller goes on. */
  words(transcript: string): void {
    if (this.#id === undefined) this.#open();
    if (!this.#isCommitted) this.#commit();
    const place = { item_id: this.#id, content_index: 0 };
    const kind = 'conversation.item.input_audio_transcription';
    this.#items.keep(this.#id ?? '', spokenItem(transcript));
    this.#send(`${kind}.delta`, { ...place, delta: transcript });
    this.#send(`${kind}.completed`, { ...place, transcript });
  }

  #open(): void {
    this.#id = this.#items.makeId();
    this.#isCommitted = false;
    this.#isSpeaking = false;
  }

  #commit(): void {
    this.#isCommitted = true;
    const id = this.#id ?? '';
    this.#send('input_audio_buffer.committed', { previous_item_id: this.#items.lastId, item_id: id });
    const item = spokenItem(null);
    this.#items.added(id, item);
    this.#items.done(id, item);
  }
}

function spokenItem(transcript: string | null): object {
  return messageItem('user', 'completed', [{ type: 'input_audio', transcript }]);
}
