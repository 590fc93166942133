import type { DtmfDigit } from '../mediaSession.ts';
import { digitOf, MAX_EVENT_DURATION_TICKS, parseTelephoneEvent, type TelephoneEvent } from './event.ts';

interface CurrentEvent {
  readonly code: number;
  readonly digit: string;
  /** Of the current segment; a long event has several. */
  segmentTimestamp: number;
  earlierTicks: number;
  durationTicks: number;
  lastPacketMs: number;
  isReleased: boolean;
}

/** Packets of an event arrive every 20 to 50 ms; after three of the longest intervals its end was lost. */
export const DTMF_END_LOST_AFTER_MS = 150;

/**
 * Receives telephone events as digits, each once, when it is released, however often its packets are repeated, reordered
 * or lost. An event is identified by its RTP timestamp; packets of an event that has ended are ignored.
 *
 * @see RFC 4733 sections 2.5.2 (receiving) and 2.5.1.3 (long events)
 */
export class DtmfReceiver {
  malformedPackets = 0;
  readonly #rtpClockRateHz: number;
  readonly #onDigit: (digit: DtmfDigit) => void;
  #current: CurrentEvent | undefined;

  constructor(rtpClockRateHz: number, onDigit: (digit: DtmfDigit) => void) {
    this.#rtpClockRateHz = rtpClockRateHz;
    this.#onDigit = onDigit;
  }

  /** @param timestamp - Of the RTP packet, 0..2^32-1. */
  receive(payload: Uint8Array, timestamp: number, nowMs: number): void {
    const event = parseTelephoneEvent(payload);
    if (event === undefined) {
      this.malformedPackets++;
      return;
    }
    const digit = digitOf(event.code);
    if (digit === undefined) return;
    const current = this.#current;
    if (current !== undefined && this.#continues(current, event, timestamp)) {
      this.#progress(current, event, timestamp, nowMs);
    } else if (current === undefined || ticksSince(timestamp, current.segmentTimestamp) > 0) {
      this.#start(event, digit, timestamp, nowMs);
    }
  }

  /** Call on each tick: releases a digit whose packets have stopped. */
  expire(nowMs: number): void {
    const current = this.#current;
    if (current !== undefined && nowMs - current.lastPacketMs >= DTMF_END_LOST_AFTER_MS)
      this.#release(current);
  }

  #start(event: TelephoneEvent, digit: string, timestamp: number, nowMs: number): void {
    if (this.#current !== undefined) this.#release(this.#current);
    this.#current = {
      code: event.code,
      digit,
      segmentTimestamp: timestamp,
      earlierTicks: 0,
      durationTicks: event.durationTicks,
      lastPacketMs: nowMs,
      isReleased: false,
    };
    if (event.isEnd) this.#release(this.#current);
  }

  /** Whether the packet belongs to the current event, or to the segment after a full one. */
  #continues(current: CurrentEvent, event: TelephoneEvent, timestamp: number): boolean {
    if (event.code !== current.code) return false;
    const ahead = ticksSince(timestamp, current.segmentTimestamp);
    return ahead === 0 || (ahead === MAX_EVENT_DURATION_TICKS && !current.isReleased);
  }

  #progress(current: CurrentEvent, event: TelephoneEvent, timestamp: number, nowMs: number): void {
    if (current.isReleased) return;
    if (timestamp !== current.segmentTimestamp) {
      current.segmentTimestamp = timestamp;
      current.earlierTicks += MAX_EVENT_DURATION_TICKS;
      current.durationTicks = 0;
    }
    current.lastPacketMs = nowMs;
    current.durationTicks = Math.max(current.durationTicks, event.durationTicks);
    if (event.isEnd) this.#release(current);
  }

  #release(event: CurrentEvent): void {
    if (event.isReleased) return;
    event.isReleased = true;
    const { digit, earlierTicks, durationTicks } = event;
    this.#onDigit({ digit, durationMs: ((earlierTicks + durationTicks) * 1000) / this.#rtpClockRateHz });
  }
}

/** The nearer way around the 32 bits; negative for a timestamp before the other. */
function ticksSince(timestamp: number, earlier: number): number {
  return (timestamp - earlier) | 0;
}
