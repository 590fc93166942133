/**
 * What a packet's sequence number says about its source.
 *
 * - `valid`: counts, and goes on to the audio.
 * - `probation`: the source has not yet shown two packets in sequence; not to be played.
 * - `restarted`: the source began a new sequence; counts, and everything that remembers the old one starts afresh.
 * - `jumped`: far from what was expected; dropped unless the next packet confirms the jump.
 */
export type PacketVerdict = 'valid' | 'probation' | 'restarted' | 'jumped';

/** The figures of one source for a report block; cumulative ones begin anew when the source restarts. */
export interface ReceptionReport {
  /** Share of packets lost since the report before, in 1/256. */
  readonly fractionLost: number;
  /** Since the beginning, clamped to 24 bits; duplicates can make it negative. */
  readonly cumulativeLost: number;
  readonly extendedHighestSequence: number;
  readonly jitterTicks: number;
}

/** Packets in sequence before a source is believed. */
const MIN_SEQUENTIAL = 2;
/** A larger step forward is a restart or nonsense, not loss: one minute at 50 packets a second. */
const MAX_DROPOUT = 3000;
/** A packet further back than this is not reordered but from another sequence: two seconds. */
const MAX_MISORDER = 100;
const SEQUENCE_RANGE = 2 ** 16;
/** Larger than any sequence number: no jump awaits its confirmation. */
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
  bytesReceived = 0;
  /** Runs of consecutive missing packets, as seen when the gap opened; reordering may close one later. */
  lossBursts = 0;
  restarts = 0;
  #probation: number;
  #received = 0;
  /** What was counted in sequences that ended in a restart. */
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

  /** @param firstSequenceNumber - Of the packet that made the source known; give that packet to `receive` as well. */
  constructor(ssrc: number, rtpClockRateHz: number, firstSequenceNumber: number) {
    this.ssrc = ssrc;
    this.rtpClockRateHz = rtpClockRateHz;
    this.#restart(firstSequenceNumber);
    this.#highestSequence = (firstSequenceNumber - 1) & 0xffff;
    this.#probation = MIN_SEQUENTIAL;
  }

  /**
   * @param sequenceNumber - 0..65535.
   * @param timestamp - In RTP ticks, 0..2^32-1.
   * @param arrivalMs - When it came in, on a clock that never goes back.
   */
  receive(
    sequenceNumber: number,
    timestamp: number,
    arrivalMs: number,
    payloadLengthBytes: number,
  ): PacketVerdict {
    const verdict = this.#judge(sequenceNumber);
    if (verdict === 'probation' || verdict === 'jumped') return verdict;
    this.#received++;
    this.bytesReceived += payloadLengthBytes;
    if (verdict === 'restarted') this.#lastTransitTicks = undefined;
    this.#updateJitter(timestamp, arrivalMs);
    return verdict;
  }

  /** All valid packets, duplicates too, over every sequence of this source. */
  get packetsReceived(): number {
    return this.#receivedEarlier + this.#received;
  }

  /** Packets that should have come by now, over every sequence of this source. */
  get packetsExpected(): number {
    return this.#expectedEarlier + this.#expected();
  }

  /** Expected less received, never below 0. */
  get packetsLost(): number {
    return Math.max(0, this.packetsExpected - this.packetsReceived);
  }

  get extendedHighestSequence(): number {
    return this.#wraps + this.#highestSequence;
  }

  /** Mean deviation of the packets' spacing, smoothed over about 16 packets. */
  get jitterMs(): number {
    return (this.#jitterTicks * 1000) / this.rtpClockRateHz;
  }

  /** The figures for an RTCP report block; the interval for `fractionLost` ends here and a new one begins. */
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
      this.restarts++;
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

  /** Begins to count at this sequence number; what was counted before goes to the totals only. */
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
