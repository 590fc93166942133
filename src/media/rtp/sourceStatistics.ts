/**
 * A packet's validity by its sequence number.
 *
 * - `valid`: counted and played.
 * - `probation`: the source has not sent two packets in sequence yet; not played.
 * - `restarted`: the source has started a new sequence; counted and played, and state of the old sequence is reset.
 * - `jumped`: far from the expected number; dropped unless the next packet confirms the jump.
 */
export type PacketVerdict = 'valid' | 'probation' | 'restarted' | 'jumped';

/** The values of one source for a report block. Cumulative ones restart with the source. */
export interface ReceptionReport {
  /** Share of packets lost since the previous report, in 1/256. */
  readonly fractionLost: number;
  /** Clamped to 24 bits; duplicates can make it negative. */
  readonly cumulativeLost: number;
  readonly extendedHighestSequence: number;
  readonly jitterTicks: number;
}

/** Packets in sequence before a source is valid. */
const MIN_SEQUENTIAL = 2;
/** A larger step forward is a restart, not loss: one minute at 50 packets a second. */
const MAX_DROPOUT = 3000;
/** A packet further back is of another sequence, not reordered: two seconds. */
const MAX_MISORDER = 100;
const SEQUENCE_RANGE = 2 ** 16;
/** Above any sequence number: no jump awaits confirmation. */
const NO_JUMP = SEQUENCE_RANGE + 1;
/** A cumulative loss is a signed 24-bit number. */
const MAX_CUMULATIVE_LOST = 0x7fffff;
const MIN_CUMULATIVE_LOST = -0x800000;

/**
 * Validity, loss and jitter of one synchronization source. Time is an argument; nothing is allocated per packet.
 *
 * @see RFC 3550 appendices A.1 (validity), A.3 (loss), A.8 (jitter)
 */
export class SourceStatistics {
  readonly ssrc: number;
  readonly rtpClockRateHz: number;
  /** Runs of consecutive missing packets, counted at the gap; reordered packets may fill one later. */
  lossBursts = 0;
  #probation: number;
  #received = 0;
  /** The packets that were received in earlier sequences. */
  #receivedEarlier = 0;
  #expectedEarlier = 0;
  #baseSequence = 0;
  #highestSequence = 0;
  #wraps = 0;
  #jumpConfirmedBy = NO_JUMP;
  #expectedBefore = 0;
  #receivedBefore = 0;
  #jitterTicks = 0;
  #lastTransitTicks: number | undefined;

  /**
   * @param firstSequenceNumber - The sequence number of the source's first packet, which `receive` must get as well.
   */
  constructor(ssrc: number, rtpClockRateHz: number, firstSequenceNumber: number) {
    this.ssrc = ssrc;
    this.rtpClockRateHz = rtpClockRateHz;
    this.#restart(firstSequenceNumber);
    this.#highestSequence = (firstSequenceNumber - 1) & 0xffff;
    this.#probation = MIN_SEQUENTIAL;
  }

  /**
   * @param sequenceNumber - The sequence number, 0..65535.
   * @param timestamp - The timestamp in RTP ticks, 0..2^32-1; undefined when it does not tell the packet's time, as
   *   for an event.
   * @param arrivalMs - The monotonic time of arrival.
   */
  receive(sequenceNumber: number, timestamp: number | undefined, arrivalMs: number): PacketVerdict {
    const verdict = this.#judge(sequenceNumber);
    if (verdict === 'probation' || verdict === 'jumped') return verdict;
    this.#received++;
    if (verdict === 'restarted' || timestamp === undefined) this.#lastTransitTicks = undefined;
    if (timestamp !== undefined) this.#updateJitter(timestamp, arrivalMs);
    return verdict;
  }

  /** Valid packets with duplicates, of all sequences of this source. */
  get packetsReceived(): number {
    return this.#receivedEarlier + this.#received;
  }

  /** Expected packets, of all sequences of this source. */
  get packetsExpected(): number {
    return this.#expectedEarlier + this.#expected();
  }

  /** Expected minus received, at least 0. */
  get packetsLost(): number {
    return Math.max(0, this.packetsExpected - this.packetsReceived);
  }

  get extendedHighestSequence(): number {
    return this.#wraps + this.#highestSequence;
  }

  /** Mean deviation of the packet spacing, smoothed over about 16 packets. */
  get jitterMs(): number {
    return (this.#jitterTicks * 1000) / this.rtpClockRateHz;
  }

  /** Values for an RTCP report block; starts a new interval of `fractionLost`. */
  report(): ReceptionReport {
    const expected = this.#expected();
    const expectedNow = expected - this.#expectedBefore;
    const lostNow = expectedNow - (this.#received - this.#receivedBefore);
    this.#expectedBefore = expected;
    this.#receivedBefore = this.#received;
    const lost = expected - this.#received;
    return {
      fractionLost:
        expectedNow <= 0 || lostNow <= 0 ? 0 : Math.min(255, Math.floor((lostNow * 256) / expectedNow)),
      cumulativeLost: Math.max(MIN_CUMULATIVE_LOST, Math.min(MAX_CUMULATIVE_LOST, lost)),
      extendedHighestSequence: this.extendedHighestSequence >>> 0,
      jitterTicks: Math.floor(this.#jitterTicks),
    };
  }

  #expected(): number {
    return this.#received === 0 ? 0 : this.extendedHighestSequence - this.#baseSequence + 1;
  }

  #judge(sequenceNumber: number): PacketVerdict {
    if (this.#probation > 0) return this.#judgeOnProbation(sequenceNumber);
    const step = (sequenceNumber - this.#highestSequence) & 0xffff;
    if (step < MAX_DROPOUT) {
      if (step > 1) this.lossBursts++;
      if (sequenceNumber < this.#highestSequence) this.#wraps += SEQUENCE_RANGE;
      this.#highestSequence = sequenceNumber;
      this.#jumpConfirmedBy = NO_JUMP;
      return 'valid';
    }
    if (step > SEQUENCE_RANGE - MAX_MISORDER) return 'valid';
    if (sequenceNumber === this.#jumpConfirmedBy) {
      this.#restart(sequenceNumber);
      return 'restarted';
    }
    this.#jumpConfirmedBy = (sequenceNumber + 1) & 0xffff;
    return 'jumped';
  }

  #judgeOnProbation(sequenceNumber: number): PacketVerdict {
    const inSequence = sequenceNumber === ((this.#highestSequence + 1) & 0xffff);
    this.#highestSequence = sequenceNumber;
    this.#probation = inSequence ? this.#probation - 1 : MIN_SEQUENTIAL - 1;
    if (this.#probation > 0) return 'probation';
    this.#restart(sequenceNumber);
    return 'valid';
  }

  /** Restarts counting at this sequence number; earlier counts are kept in the totals. */
  #restart(sequenceNumber: number): void {
    this.#expectedEarlier += this.#expected();
    this.#receivedEarlier += this.#received;
    this.#received = 0;
    this.#baseSequence = sequenceNumber;
    this.#highestSequence = sequenceNumber;
    this.#wraps = 0;
    this.#jumpConfirmedBy = NO_JUMP;
    this.#expectedBefore = 0;
    this.#receivedBefore = 0;
  }

  #updateJitter(timestamp: number, arrivalMs: number): void {
    const transit = (arrivalMs * this.rtpClockRateHz) / 1000 - timestamp;
    if (this.#lastTransitTicks !== undefined) {
      const difference = Math.abs(wrapToSigned32(transit - this.#lastTransitTicks));
      this.#jitterTicks += (difference - this.#jitterTicks) / 16;
    }
    this.#lastTransitTicks = transit;
  }
}

/** Timestamps wrap; the difference of two transits is near zero modulo 2^32. */
function wrapToSigned32(ticks: number): number {
  return ticks - 2 ** 32 * Math.round(ticks / 2 ** 32);
}
