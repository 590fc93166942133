import type { DueDisclosure } from '../../agents/disclosures.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Call } from '../call.ts';
import type { CallWriter } from './callWriter.ts';

interface HeardDisclosure {
  readonly id: string;
  /** For an answering machine, the time since its message began. */
  readonly messageMs?: number | undefined;
}

/** Follows which disclosures of a call were heard, and when. */
export class CallDisclosures {
  readonly #writer: CallWriter;
  readonly #clock: Clock;
  readonly #all: readonly DueDisclosure[];
  /** Those that an agent has still to say, also one that replaces another. */
  #unsaid: readonly DueDisclosure[];
  /** Those that were not heard in time, so far. */
  #unheard: readonly DueDisclosure[];

  constructor({ disclosures }: Call, writer: CallWriter, clock: Clock) {
    this.#all = disclosures;
    this.#unsaid = disclosures;
    this.#unheard = disclosures;
    this.#writer = writer;
    this.#clock = clock;
  }

  get unsaid(): readonly DueDisclosure[] {
    return this.#unsaid;
  }

  /** What was said over the greeting of an answering machine is not in its message, which must have it too. */
  onMessageBegan(): void {
    this.#unheard = this.#all.filter((one) => one.machines || this.#unheard.includes(one));
    void this.#writer.update({ disclosures: this.#unheard });
  }

  /** The person has heard one whole, or an answering machine has it in its message, whose time counts from its beginning. */
  onHeard({ id, messageMs }: HeardDisclosure, answeredAtMs: number): void {
    const heard = (messageMs === undefined ? this.#unsaid : this.#all).find((one) => one.id === id);
    if (!heard) return;
    this.#unsaid = this.#unsaid.filter((one) => one !== heard);
    const nowMs = this.#clock.now();
    const atMs = Math.max(0, nowMs - answeredAtMs);
    if ((messageMs ?? atMs) <= heard.withinSeconds * 1000)
      this.#unheard = this.#unheard.filter((one) => one !== heard);
    const at = new Date(nowMs).toISOString();
    const event = { type: 'disclosure_heard', at, data: { id, atMs } } as const;
    void this.#writer.update({ disclosures: this.#unheard }, event);
  }
}
