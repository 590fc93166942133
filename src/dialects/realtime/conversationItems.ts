/** Sends an event, which gets its id on the way. @param audio - Its delta, in base64. */
export type SendEvent = (type: string, fields: object, audio?: string) => void;

/** The most items that a client may ask for again. */
const MAX_KEPT = 100;

/** The items of a conversation, in order. */
export class ConversationItems {
  readonly #send: SendEvent;
  readonly #prefix: string;
  /** The newest, as they were done. */
  readonly #done = new Map<string, object>();
  #count = 0;
  #lastId: string | null = null;
  #previousId: string | null = null;

  /** @param prefix - The prefix of the ids, unique to the conversation. */
  constructor(prefix: string, send: SendEvent) {
    this.#prefix = prefix;
    this.#send = send;
  }

  makeId(): string {
    return `item_${this.#prefix}_${++this.#count}`;
  }

  /** The last item: the one before the next. */
  get lastId(): string | null {
    return this.#lastId;
  }

  added(id: string, item: object): void {
    this.#previousId = this.#lastId;
    this.#lastId = id;
    const fields = { previous_item_id: this.#previousId, item: { id, ...item } };
    this.#send('conversation.item.added', fields);
    this.#send('conversation.item.created', fields);
  }

  /** @param id - The id of an item that was added. */
  done(id: string, item: object): void {
    const previous_item_id = id === this.#lastId ? this.#previousId : null;
    this.#send('conversation.item.done', { previous_item_id, item: { id, ...item } });
    this.keep(id, item);
  }

  /** What a client gets from now on that asks for the item. */
  keep(id: string, item: object): void {
    this.#done.set(id, { id, ...item });
    const [oldest] = this.#done.keys();
    if (oldest !== undefined && this.#done.size > MAX_KEPT) this.#done.delete(oldest);
  }

  /** @returns False for an item that is not known, or not any more. */
  retrieve(id: string): boolean {
    const item = this.#done.get(id);
    if (item) this.#send('conversation.item.retrieved', { item });
    return item !== undefined;
  }
}

export function messageItem(role: 'user' | 'assistant', status: string, content: readonly object[]): object {
  return { object: 'realtime.item', type: 'message', status, role, content };
}
