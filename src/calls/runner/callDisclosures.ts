import type { DueDisclosure } from '../../agents/disclosures.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Call } from '../call.ts';
import type { CallWriter } from './callWriter.ts';

/** Follows which disclosures of a call were heard, and when. */
export class CallDisclosures {
  readonly #writer: CallWriter;
  readonly #clock: Clock;
  /** Those that an agent has still to say, also one that replaces another. */
  #unsaid: readonly DueDisclosure[];
  /** Those that were not heard in time, so far. */
  #unheard: readonly DueDisclosure[];

  constructor({ disclosures }: Call, writer: CallWriter, clock: Clock) {
    this.#unsaid = disclosures;
    this.#unheard = disclosures;
    this.#writer = writer;
    this.#clock = clock;
  }

  get unsaid(): readonly DueDisclosure[] {
    return this.#unsaid;
  }

  /** The person has heard one whole. */
  onHeard(id: string, answeredAtMs: number): void {
    const heard = this.#unsaid.find((one) => one.id === id);
    if (!heard) return;
    this.#unsaid = this.#unsaid.filter((one) => one !== heard);
    const nowMs = this.#clock.now();
    const atMs = Math.max(0, nowMs - answeredAtMs);
    if (atMs <= heard.withinSeconds * 1000) this.#unheard = this.#unheard.filter((one) => one !== heard);
    const at = new Date(nowMs).toISOString();
    const event = { type: 'disclosure_heard', at, data: { id, atMs } } as const;
    void this.#writer.update({ disclosures: this.#unheard }, event);
  }
}
