import type { DtmfDigit } from '../mediaSession.ts';
import { digitOf, MAX_EVENT_DURATION_TICKS, parseTelephoneEvent, type TelephoneEvent } from './event.ts';

/** The fields of an RTP packet with an event that the receiver needs. */
export interface EventPacket {
  readonly ssrc: number;
  /** The sequence number, 0..65535. */
  readonly sequenceNumber: number;
  /** The timestamp, 0..2^32-1. */
  readonly timestamp: number;
  payload(): Uint8Array;
}

/** The event of the last packet. */
interface CurrentEvent {
  readonly ssrc: number;
  readonly code: number;
  readonly digit: string;
  readonly rtpClockRateHz: number;
  /** True for an event whose first packet had the end bit, as events of a single packet do. */
  readonly beganWithEnd: boolean;
  sequenceNumber: number;
  timestamp: number;
  /** The duration of the current segment; a long event has several. */
  durationTicks: number;
  earlierTicks: number;
  lastPacketMs: number;
  /** A packet had the end bit. */
  hasEnded: boolean;
  isReleased: boolean;
}

/** Packets of an event arrive every 20 to 50 ms; after three of the longest intervals its end was lost. */
export const DTMF_END_LOST_AFTER_MS = 150;
/** The tolerance: more than the interval between two packets of an event, less than the shortest tone and pause. */
const TOLERANCE_MS = 60;
/** A sender, or a network, that stood still for so long repeats no end packet. */
const LATE_END_MS = 1000;

/**
 * Receives telephone events as digits, each once, when it is released, however often its packets are repeated, reordered
 * or lost. By RFC 4733 the timestamp identifies an event; but there are senders whose timestamp moves within an event, or
 * stands still between two. So sequence number, code, end bit, growth of the duration and pauses count as well.
 *
 * @see RFC 4733 sections 2.5.2 (receiving) and 2.5.1.3 (long events)
 */
export class DtmfReceiver {
  malformedPackets = 0;
  readonly #onDigit: (digit: DtmfDigit) => void;
  #current: CurrentEvent | undefined;

  constructor(onDigit: (digit: DtmfDigit) => void) {
    this.#onDigit = onDigit;
  }

  /** @param rtpClockRateHz - The clock rate of the event's payload type. */
  receive(packet: EventPacket, rtpClockRateHz: number, nowMs: number): void {
    const event = parseTelephoneEvent(packet.payload());
    if (event === undefined) {
      this.malformedPackets++;
      return;
    }
    const digit = digitOf(event.code);
    const current = this.#current;
    if (digit === undefined || (current && isOlder(packet, current))) return;
    if (current && continues(current, event, packet, nowMs)) this.#progress(current, event, packet, nowMs);
    else this.#start(event, packet, { digit, rtpClockRateHz, nowMs });
  }

  /** Call on each tick: releases a digit whose packets have stopped. */
  expire(nowMs: number): void {
    const current = this.#current;
    if (current && nowMs - current.lastPacketMs >= DTMF_END_LOST_AFTER_MS) this.#release(current);
  }

  #start(
    { code, durationTicks, isEnd }: TelephoneEvent,
    { ssrc, sequenceNumber, timestamp }: EventPacket,
    { digit, rtpClockRateHz, nowMs }: { digit: string; rtpClockRateHz: number; nowMs: number },
  ): void {
    if (this.#current) this.#release(this.#current);
    this.#current = {
      ...{ ssrc, code, digit, rtpClockRateHz, sequenceNumber, timestamp, durationTicks },
      ...{ earlierTicks: 0, lastPacketMs: nowMs, beganWithEnd: isEnd, hasEnded: isEnd, isReleased: false },
    };
    if (isEnd) this.#release(this.#current);
  }

  #progress(current: CurrentEvent, event: TelephoneEvent, packet: EventPacket, nowMs: number): void {
    if (!event.isEnd && event.durationTicks < current.durationTicks) {
      const movedTicks = ticksSince(packet.timestamp, current.timestamp);
      current.earlierTicks += movedTicks > 0 ? movedTicks : MAX_EVENT_DURATION_TICKS + 1;
      current.durationTicks = 0;
    }
    current.sequenceNumber = packet.sequenceNumber;
    current.timestamp = packet.timestamp;
    current.lastPacketMs = nowMs;
    current.durationTicks = Math.max(current.durationTicks, event.durationTicks);
    if (!event.isEnd) return;
    current.hasEnded = true;
    this.#release(current);
  }

  #release(event: CurrentEvent): void {
    if (event.isReleased) return;
    event.isReleased = true;
    const { digit, earlierTicks, durationTicks, rtpClockRateHz } = event;
    this.#onDigit({ digit, durationMs: ((earlierTicks + durationTicks) * 1000) / rtpClockRateHz });
  }
}

/** Returns true when a packet repeats the last one, or was overtaken by it. */
function isOlder({ ssrc, sequenceNumber, timestamp }: EventPacket, current: CurrentEvent): boolean {
  const step = ((sequenceNumber - current.sequenceNumber) << 16) >> 16;
  return ssrc === current.ssrc && step <= 0 && ticksSince(timestamp, current.timestamp) <= 0;
}

/** Returns true when a packet after the last one belongs to the same event, or to the next segment of a long one. */
function continues(
  current: CurrentEvent,
  event: TelephoneEvent,
  packet: EventPacket,
  nowMs: number,
): boolean {
  if (event.code !== current.code || packet.ssrc !== current.ssrc) return false;
  const gapMs = nowMs - current.lastPacketMs;
  const isClose = gapMs <= TOLERANCE_MS;
  const hasPaused = gapMs >= DTMF_END_LOST_AFTER_MS;
  const movedTicks = ticksSince(packet.timestamp, current.timestamp);
  const grownTicks = event.durationTicks - current.durationTicks;
  const toTicks = (ms: number) => (ms * current.rtpClockRateHz) / 1000;
  const tolerance = toTicks(TOLERANCE_MS);
  // A late end packet. A new event would not begin with one, at the same timestamp and of the same duration.
  if (!current.beganWithEnd && event.isEnd && movedTicks === 0 && grownTicks === 0 && gapMs < LATE_END_MS)
    return true;
  // After its end, an event has further end packets only.
  if (current.hasEnded) {
    return event.isEnd && (isClose || (!hasPaused && Math.abs(movedTicks) <= tolerance));
  }
  if (event.isEnd && !hasPaused) return true;
  if (grownTicks < 0) {
    const isFull = current.durationTicks >= MAX_EVENT_DURATION_TICKS - toTicks(DTMF_END_LOST_AFTER_MS);
    return isFull && !hasPaused;
  }
  if (grownTicks > 0 && isClose) return true;
  // Packets that were lost leave a pause in an event too, whose duration has grown by it.
  if (movedTicks === 0) return grownTicks > 0 || !hasPaused;
  return movedTicks > 0 && movedTicks <= grownTicks + tolerance && (grownTicks > 0 || !hasPaused);
}

/** The nearer way around the 32 bits; negative for a timestamp before the other. */
function ticksSince(timestamp: number, earlier: number): number {
  return (timestamp - earlier) | 0;
}
