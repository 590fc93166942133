import type { DueDisclosure } from '../../agents/disclosures.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { TurnInput } from '../../engine/turn/turn.ts';

/** Turns that wait until all disclosures were said. */
const WAITING: ReadonlySet<TurnInput['kind']> = new Set([
  'begin',
  'user_message',
  'dtmf',
  'silence',
  'not_understood',
  'voicemail',
  'given_back',
  'transfer_failed',
]);
/** Turns that replace the one that waits. */
const REPLACING: ReadonlySet<TurnInput['kind']> = new Set(['user_message', 'dtmf', 'voicemail']);

/** Keeps the order of a call's first words: each disclosure before any turn of the pathway. */
export class Disclosures {
  readonly #clock: Clock;
  readonly #onMessageBegan: () => void;
  readonly #all: readonly DueDisclosure[];
  #due: readonly DueDisclosure[];
  /** The turn that follows the last disclosure. */
  #next: TurnInput | undefined;
  /** When the message to a machine began. */
  #messageAtMs: number | undefined;

  /** @param due - What is still to be said, in order. */
  constructor(
    clock: Clock,
    due: readonly DueDisclosure[] = [],
    onMessageBegan: () => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#onMessageBegan = onMessageBegan;
    this.#all = due;
    this.#due = due;
  }

  /** The turn that is due once neither side speaks; undefined for none. */
  get waiting(): TurnInput | undefined {
    return this.#next;
  }

  /** The time since the message to a machine began, in milliseconds; undefined without one. */
  get messageMs(): number | undefined {
    return this.#messageAtMs === undefined ? undefined : this.#clock.monotonicMs() - this.#messageAtMs;
  }

  /** @returns The turn that runs instead of this one: the next disclosure, which this one follows. */
  before(input: TurnInput): TurnInput {
    if (!WAITING.has(input.kind)) return input;
    // What was said over a machine's greeting is in no message.
    if (input.kind === 'voicemail' && input !== this.#next) {
      this.#due = this.#all.filter(({ machines }) => machines);
      this.#messageAtMs = this.#clock.monotonicMs();
      if (this.#due.length > 0) this.#onMessageBegan();
    }
    const next = this.#next && !REPLACING.has(input.kind) ? this.#next : input;
    const first = this.#nextDisclosure();
    this.#next = first && next;
    return first ?? next;
  }

  /** The next disclosure was said, or cannot be. */
  skip(): void {
    this.#due = this.#due.slice(1);
  }

  /**
   * The turn that follows a disclosure at once. Undefined where the pathway's begin is due: what the caller said meanwhile
   * goes before it.
   */
  get following(): TurnInput | undefined {
    return this.#nextDisclosure() ?? (this.#next?.kind === 'begin' ? undefined : this.#next);
  }

  #nextDisclosure(): TurnInput | undefined {
    const [first] = this.#due;
    return first && { kind: 'disclosure', id: first.id };
  }
}
