import type { Clock } from '../base/values/clock.ts';
import type { BotClip, TextPart } from '../dialects/textDialect.ts';

/** A part that a bot wants to say, the end of its answer, or the loss of its connection. */
export type BotItem =
  | ({ readonly kind: 'text' } & TextPart)
  | ({ readonly kind: 'clip' } & BotClip)
  | { readonly kind: 'end' }
  | { readonly kind: 'lost'; readonly error: Error };

/** A bot that is further ahead of what is spoken does not mean a phone call. */
const MAX_ITEMS = 20_000;
const MAX_CHARACTERS = 500_000;

/** The parts that a bot has sent and no turn has said yet, in order. */
export class BotWords {
  readonly #clock: Clock;
  #items: BotItem[] = [];
  #characters = 0;
  /** An answer is awaited, or has begun and goes on. */
  #isOpen = false;
  /** Whether the rest of an interrupted answer is dropped, up to its end or the next question. */
  #isDropping = false;
  #wake: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** @returns False where too much waits. */
  add(item: BotItem): boolean {
    if (this.#isDropping && isSaid(item)) {
      if (isLast(item)) this.#isDropping = false;
      return true;
    }
    this.#items.push(item);
    if (item.kind === 'text') this.#characters += item.text.length;
    this.#wake();
    return this.#items.length <= MAX_ITEMS && this.#characters <= MAX_CHARACTERS;
  }

  /**
   * Takes the next item. A lost bot stays lost.
   *
   * @param timeoutMs - The longest wait; undefined waits without limit.
   * @returns The next item; undefined when none came in time.
   * @throws The signal's reason.
   */
  async next(signal: AbortSignal, timeoutMs: number | undefined): Promise<BotItem | undefined> {
    if (this.isEmpty) await this.#change(signal, timeoutMs);
    signal.throwIfAborted();
    const [item] = this.#items;
    if (item !== undefined && item.kind !== 'lost') this.#items.shift();
    if (item?.kind === 'text') {
      this.#characters -= item.text.length;
      this.#isOpen = !item.isLast;
    }
    return item;
  }

  /** The answer was interrupted: what is left of it is not said. */
  drop(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const end = this.#items.findIndex(isLast);
    this.#isDropping = end === -1;
    this.#items = this.#items.filter((item, n) => !isSaid(item) || (end !== -1 && n > end));
    this.#characters = this.#items.reduce(
      (sum, item) => sum + (item.kind === 'text' ? item.text.length : 0),
      0,
    );
  }

  /** The bot is asked: what follows is its answer. */
  asked(): void {
    this.#isDropping = false;
    this.#isOpen = true;
  }

  #change(signal: AbortSignal, timeoutMs: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : this.#clock.setTimer(() => done(), timeoutMs);
      const done = () => {
        timer?.cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }
}

function isSaid({ kind }: BotItem): boolean {
  return kind === 'text' || kind === 'clip';
}

function isLast(item: BotItem): boolean {
  return item.kind === 'text' && item.isLast;
}
