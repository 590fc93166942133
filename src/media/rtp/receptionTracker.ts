import { type PacketVerdict, SourceStatistics } from './sourceStatistics.ts';

/** `source_changed` is the packet that makes another source the current one. */
export type ReceptionVerdict = PacketVerdict | 'source_changed';

/**
 * Follows a call's stream over changes of its SSRC, as carriers make them on transfer, hold and re-INVITE. Another source
 * becomes the current one after two packets in sequence, so that a stray packet never takes a call's audio. The totals
 * include earlier sources.
 *
 * @see RFC 3550 sections 8.2 and appendix A.1
 */
export class ReceptionTracker {
  readonly rtpClockRateHz: number;
  #current: SourceStatistics | undefined;
  #candidate: SourceStatistics | undefined;
  #earlier = { received: 0, expected: 0, bursts: 0 };

  constructor(rtpClockRateHz: number) {
    this.rtpClockRateHz = rtpClockRateHz;
  }

  /** @see SourceStatistics.receive for the units. */
  receive(
    ssrc: number,
    sequenceNumber: number,
    timestamp: number | undefined,
    arrivalMs: number,
  ): ReceptionVerdict {
    this.#current ??= new SourceStatistics(ssrc, this.rtpClockRateHz, sequenceNumber);
    if (this.#current.ssrc === ssrc) {
      return this.#current.receive(sequenceNumber, timestamp, arrivalMs);
    }
    if (this.#candidate?.ssrc !== ssrc) {
      this.#candidate = new SourceStatistics(ssrc, this.rtpClockRateHz, sequenceNumber);
    }
    const verdict = this.#candidate.receive(sequenceNumber, timestamp, arrivalMs);
    if (verdict !== 'valid') return verdict;
    this.#changeTo(this.#candidate);
    return 'source_changed';
  }

  /** The current source; undefined before the first packet. */
  get source(): SourceStatistics | undefined {
    return this.#current;
  }

  get packetsReceived(): number {
    return this.#earlier.received + (this.#current?.packetsReceived ?? 0);
  }

  get packetsExpected(): number {
    return this.#earlier.expected + (this.#current?.packetsExpected ?? 0);
  }

  get packetsLost(): number {
    return Math.max(0, this.packetsExpected - this.packetsReceived);
  }

  get lossBursts(): number {
    return this.#earlier.bursts + (this.#current?.lossBursts ?? 0);
  }

  get jitterMs(): number {
    return this.#current?.jitterMs ?? 0;
  }

  #changeTo(next: SourceStatistics): void {
    const { packetsReceived, packetsExpected, lossBursts } = this;
    this.#earlier = {
      received: packetsReceived,
      expected: packetsExpected,
      bursts: lossBursts,
    };
    this.#current = next;
    this.#candidate = undefined;
  }
}
