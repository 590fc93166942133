import { type ConversationItems, messageItem, type SendEvent } from './conversationItems.ts';
import { MODEL, type RealtimeSession, shownFormat } from './realtimeSession.ts';

export type ResponseEnd = 'completed' | 'turn_detected' | 'client_cancelled';

/** The events of one response, which has one message with one content part. */
export class RealtimeResponse {
  readonly itemId: string;
  readonly id: string;
  readonly #session: RealtimeSession;
  readonly #items: ConversationItems;
  readonly #send: SendEvent;
  readonly #isText: boolean;
  #text = '';

  constructor(session: RealtimeSession, items: ConversationItems, send: SendEvent) {
    this.itemId = items.makeId();
    this.id = this.itemId.replace('item', 'resp');
    this.#session = session;
    this.#items = items;
    this.#send = send;
    this.#isText = session.modality === 'text';
    const item = messageItem('assistant', 'in_progress', []);
    send('response.created', { response: this.#response('in_progress', null, []) });
    this.#sendPart('response.output_item.added', { item: { id: this.itemId, ...item } });
    items.added(this.itemId, item);
    this.#sendContent('response.content_part.added', { part: this.#part('') });
  }

  /** @param text - All of it so far. What is no continuation of what was sent comes with the end. */
  showText(text: string): void {
    if (!text.startsWith(this.#text) || text === this.#text) return;
    const kind = this.#isText ? 'output_text' : 'output_audio_transcript';
    this.#sendContent(`response.${kind}.delta`, { delta: text.slice(this.#text.length) });
    this.#text = text;
  }

  /** @param delta - Base64. */
  audio(delta: string): void {
    this.#sendContent('response.output_audio.delta', {}, delta);
  }

  end(how: ResponseEnd): void {
    const isCompleted = how === 'completed';
    const item = messageItem('assistant', isCompleted ? 'completed' : 'incomplete', [this.#part(this.#text)]);
    if (this.#isText) this.#sendContent('response.output_text.done', { text: this.#text });
    else {
      this.#sendContent('response.output_audio.done', {});
      this.#sendContent('response.output_audio_transcript.done', { transcript: this.#text });
    }
    this.#sendContent('response.content_part.done', { part: this.#part(this.#text) });
    const shown = { id: this.itemId, ...item };
    this.#sendPart('response.output_item.done', { item: shown });
    this.#items.done(this.itemId, item);
    const details = isCompleted ? null : { type: 'cancelled', reason: how };
    const status = isCompleted ? 'completed' : 'cancelled';
    this.#send('response.done', { response: this.#response(status, details, [shown]) });
  }

  #sendPart(type: string, fields: object, audio?: string): void {
    this.#send(type, { response_id: this.id, output_index: 0, ...fields }, audio);
  }

  #sendContent(type: string, fields: object, audio?: string): void {
    this.#sendPart(type, { item_id: this.itemId, content_index: 0, ...fields }, audio);
  }

  #part(text: string): object {
    return this.#isText ? { type: 'output_text', text } : { type: 'output_audio', transcript: text };
  }

  #response(status: string, status_details: object | null, output: readonly object[]): object {
    const { modality, output: format } = this.#session;
    return {
      object: 'realtime.response',
      id: this.id,
      status,
      status_details,
      output,
      conversation_id: null,
      output_modalities: [modality],
      max_output_tokens: 'inf',
      audio: { output: { format: shownFormat(format), voice: MODEL } },
      metadata: null,
    };
  }
}
