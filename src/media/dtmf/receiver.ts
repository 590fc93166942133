import { digitOf, MAX_EVENT_DURATION_TICKS, parseTelephoneEvent, type TelephoneEvent } from './event.ts';

/** A digit that the peer sends. */
export interface ReceivedDigit {
  readonly digit: string;
  /** RTP timestamp of its start. */
  readonly timestamp: number;
  /** So far; complete when the digit is released. */
  readonly durationMs: number;
}

/** Each occurs once for a digit. */
export type DtmfSignal =
  | { readonly kind: 'pressed'; readonly digit: ReceivedDigit }
  | { readonly kind: 'released'; readonly digit: ReceivedDigit };

interface CurrentEvent {
  readonly code: number;
  readonly digit: string;
  readonly timestamp: number;
  /** Of the current segment; a long event has several. */
  segmentTimestamp: number;
  earlierTicks: number;
  durationTicks: number;
  lastPacketMs: number;
  isReleased: boolean;
}

/** Packets of an event arrive every 20 to 50 ms; after three of the longest intervals its end was lost. */
export const DTMF_END_LOST_AFTER_MS = 150;

const NO_SIGNALS: readonly DtmfSignal[] = [];

/**
 * Receives telephone events as digits: one `pressed` and one `released` each, however often their packets are repeated,
 * reordered or lost. An event is identified by its RTP timestamp; packets of an event that has ended are ignored.
 *
 * @see RFC 4733 sections 2.5.2 (receiving) and 2.5.1.3 (long events)
 */
export class DtmfReceiver {
  readonly rtpClockRateHz: number;
  malformedPackets = 0;
  #current: CurrentEvent | undefined;

  constructor(rtpClockRateHz: number) {
    this.rtpClockRateHz = rtpClockRateHz;
  }

  /**
   * @param timestamp - Of the RTP packet, 0..2^32-1.
   * @returns In order: the release of a digit whose end was lost, then the packet's own signals. Mostly none.
   */
  receive(payload: Uint8Array, timestamp: number, nowMs: number): readonly DtmfSignal[] {
    const event = parseTelephoneEvent(payload);
    if (event === undefined) {
      this.malformedPackets++;
      return NO_SIGNALS;
    }
    const digit = digitOf(event.code);
    if (digit === undefined) return NO_SIGNALS;
    const current = this.#current;
    if (current !== undefined && this.#continues(current, event, timestamp)) {
      return this.#progress(current, event, timestamp, nowMs);
    }
    if (current !== undefined && ticksSince(timestamp, current.segmentTimestamp) <= 0) return NO_SIGNALS;
    return this.#start(event, digit, timestamp, nowMs);
  }

  /** Call on each tick: ends a digit whose packets have stopped. */
  expire(nowMs: number): DtmfSignal | undefined {
    const current = this.#current;
    if (current === undefined || current.isReleased) return undefined;
    return nowMs - current.lastPacketMs < DTMF_END_LOST_AFTER_MS ? undefined : this.#release(current);
  }

  #start(event: TelephoneEvent, digit: string, timestamp: number, nowMs: number): readonly DtmfSignal[] {
    const signals: DtmfSignal[] = [];
    if (this.#current !== undefined && !this.#current.isReleased) signals.push(this.#release(this.#current));
    const current = {
      code: event.code,
      digit,
      timestamp,
      segmentTimestamp: timestamp,
      earlierTicks: 0,
      durationTicks: event.durationTicks,
      lastPacketMs: nowMs,
      isReleased: false,
    };
    this.#current = current;
    signals.push({ kind: 'pressed', digit: this.#describe(current) });
    if (event.isEnd) signals.push(this.#release(current));
    return signals;
  }

  /** Whether the packet belongs to the current event, or to the segment after a full one. */
  #continues(current: CurrentEvent, event: TelephoneEvent, timestamp: number): boolean {
    if (event.code !== current.code) return false;
    const ahead = ticksSince(timestamp, current.segmentTimestamp);
    return ahead === 0 || (ahead === MAX_EVENT_DURATION_TICKS && !current.isReleased);
  }

  #progress(
    current: CurrentEvent,
    event: TelephoneEvent,
    timestamp: number,
    nowMs: number,
  ): readonly DtmfSignal[] {
    if (current.isReleased) return NO_SIGNALS;
    if (timestamp !== current.segmentTimestamp) {
      current.segmentTimestamp = timestamp;
      current.earlierTicks += MAX_EVENT_DURATION_TICKS;
      current.durationTicks = 0;
    }
    current.lastPacketMs = nowMs;
    current.durationTicks = Math.max(current.durationTicks, event.durationTicks);
    return event.isEnd ? [this.#release(current)] : NO_SIGNALS;
  }

  #release(current: CurrentEvent): DtmfSignal {
    current.isReleased = true;
    return { kind: 'released', digit: this.#describe(current) };
  }

  #describe({ digit, timestamp, earlierTicks, durationTicks }: CurrentEvent): ReceivedDigit {
    return { digit, timestamp, durationMs: ((earlierTicks + durationTicks) * 1000) / this.rtpClockRateHz };
  }
}

/** The nearer way around the 32 bits; negative for a timestamp before the other. */
function ticksSince(timestamp: number, earlier: number): number {
  return (timestamp - earlier) | 0;
}
