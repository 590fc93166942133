import type { SpeechToSpeechEvent } from '../../../models/ports/speechToSpeech.ts';

/** Items whose words have not come; the oldest ones never will. */
const MAX_ITEMS = 100;
/** The longest transcript of one utterance, far above what a person can say. */
const MAX_CHARACTERS = 10_000;

interface Item {
  /** The commit's number; undefined until a commit claims an item that the server committed on its own. */
  commit: number | undefined;
  text: string;
  isFinal: boolean;
}

/** Maps each of the server's audio items to the person's commit and to its transcript. */
export class Transcripts {
  readonly #onEvent: (event: SpeechToSpeechEvent) => void;
  readonly #items = new Map<string, Item>();
  /** Commits whose item the server has not named yet, in order. */
  readonly #unnamed: number[] = [];
  #commits = 0;

  constructor(onEvent: (event: SpeechToSpeechEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** @param isSent - True when there is audio to commit. @returns The commit's number. */
  commit(isSent: boolean): number {
    this.#commits += 1;
    const commit = this.#commits;
    const unclaimed = [...this.#items].find(([, item]) => item.commit === undefined);
    if (unclaimed) this.#claim(commit, ...unclaimed);
    else if (isSent) this.#unnamed.push(commit);
    else this.#reportSoon({ commit, text: '', isFinal: true });
    return commit;
  }

  onCommitted(itemId: string): void {
    this.#itemOf(itemId);
  }

  /** Reports that there was nothing to commit. */
  onRefused(): void {
    const commit = this.#unnamed.shift();
    if (commit !== undefined) this.#onEvent({ type: 'transcript', commit, text: '', isFinal: true });
  }

  onWords(itemId: string, delta: string): void {
    const item = this.#itemOf(itemId);
    item.text = (item.text + delta).slice(0, MAX_CHARACTERS);
    this.#report(item);
  }

  onComplete(itemId: string, transcript: string): void {
    const item = this.#itemOf(itemId);
    item.text = transcript.slice(0, MAX_CHARACTERS);
    item.isFinal = true;
    this.#report(item);
    if (item.commit !== undefined) this.#items.delete(itemId);
  }

  /** Reports that the server has no transcript. */
  onLost(itemId: string): void {
    const { commit } = this.#itemOf(itemId);
    this.#items.delete(itemId);
    if (commit !== undefined) this.#onEvent({ type: 'transcript_lost', commit });
  }

  #itemOf(itemId: string): Item {
    const known = this.#items.get(itemId);
    if (known) return known;
    const item: Item = { commit: this.#unnamed.shift(), text: '', isFinal: false };
    this.#items.set(itemId, item);
    const [oldest] = this.#items.keys();
    if (this.#items.size > MAX_ITEMS && oldest !== undefined) this.#items.delete(oldest);
    return item;
  }

  #claim(commit: number, itemId: string, item: Item): void {
    item.commit = commit;
    if (item.isFinal) this.#items.delete(itemId);
    if (item.text !== '' || item.isFinal) this.#reportSoon(item);
  }

  /** The committer knows the number first. */
  #reportSoon(item: Item): void {
    queueMicrotask(() => this.#report(item));
  }

  #report({ commit, text, isFinal }: Item): void {
    if (commit !== undefined) this.#onEvent({ type: 'transcript', commit, text: text.trim(), isFinal });
  }
}
