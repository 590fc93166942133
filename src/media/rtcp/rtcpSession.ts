import type { Packetizer } from '../rtp/packetizer.ts';
import type { ReceptionTracker } from '../rtp/receptionTracker.ts';
import type { SrtcpStream } from '../srtp/srtcp.ts';
import { buildRtcp, type RtcpContents } from './build.ts';
import { roundTripMs, toNtp, toShortDelay, toShortNtp } from './ntp.ts';
import type { ReportBlock, SenderInfo } from './packets.ts';
import { parseRtcp } from './parse.ts';
import { ReportSchedule } from './schedule.ts';

/** G.711 in both directions with headers. RTCP gets a twentieth, which two participants never use up. */
const SESSION_BANDWIDTH_BYTES_PER_SECOND = 20_000;

export interface RtcpOptions {
  readonly startMs: number;
  /** Unix time at the monotonic clock's zero. */
  readonly epochMs: number;
  readonly randomUint32: () => number;
  /** @param packet - The packet, which the callee owns. */
  readonly send: (packet: Uint8Array) => void;
}

/** The streams to report on, which change with the codec. */
export interface ReportedStreams {
  readonly packetizer: Packetizer;
  readonly reception: ReceptionTracker;
  /** The clock rate of both directions. */
  readonly rtpClockRateHz: number;
}

/** The SRTCP of both directions. */
export interface SrtcpPair {
  readonly local: SrtcpStream;
  readonly remote: SrtcpStream;
}

/**
 * A call's RTCP: our scheduled reports, the round trip from the peer's reports, and BYE at the end.
 *
 * @see RFC 3550 section 6
 */
export class RtcpSession {
  srtcp: SrtcpPair | undefined;
  malformedPackets = 0;
  packetsReceived = 0;
  /** The round-trip time; undefined until the peer has reported on one of our reports. */
  roundTripMs: number | undefined;
  readonly #options: RtcpOptions;
  readonly #cname: string;
  readonly #schedule: ReportSchedule;
  #packetsReported = 0;
  #lastReport: { readonly ssrc: number; readonly shortNtp: number; readonly atMs: number } | undefined;

  constructor(options: RtcpOptions) {
    this.#options = options;
    this.#cname = canonicalName(options.randomUint32);
    this.#schedule = new ReportSchedule({
      startMs: options.startMs,
      sessionBandwidthBytesPerSecond: SESSION_BANDWIDTH_BYTES_PER_SECOND,
      random: () => options.randomUint32() / 2 ** 32,
    });
  }

  /** Sends a report when one is due. @param frameStartMs - When the frame of the packetizer's timestamp is due. */
  tick(streams: ReportedStreams, nowMs: number, frameStartMs: number): void {
    if (!this.#schedule.isDue(nowMs)) return;
    const hasSent = streams.packetizer.packetsSent > this.#packetsReported;
    const lengthBytes = this.#send(this.#contents(streams, nowMs, frameStartMs));
    this.#packetsReported = streams.packetizer.packetsSent;
    this.#schedule.sent(nowMs, lengthBytes, hasSent);
  }

  /** Sends BYE. @see RFC 3550 section 6.6 */
  leave(streams: ReportedStreams, nowMs: number): void {
    this.#send({ ...this.#contents(streams, nowMs, nowMs), bye: { reason: '' } });
  }

  /** @param bytes - A datagram, which is decrypted in place. */
  receive(bytes: Uint8Array, ourSsrc: number, nowMs: number): void {
    const plain = this.srtcp === undefined ? bytes : this.srtcp.remote.unprotect(bytes);
    const packets = typeof plain === 'string' ? plain : parseRtcp(plain);
    if (typeof packets === 'string') {
      this.malformedPackets++;
      return;
    }
    this.packetsReceived++;
    this.#schedule.observe(bytes.length);
    for (const packet of packets) {
      if (packet.kind === 'sender_report') {
        this.#lastReport = { ssrc: packet.ssrc, shortNtp: toShortNtp(packet.sender), atMs: nowMs };
      }
      if (packet.kind === 'sender_report' || packet.kind === 'receiver_report') {
        this.#readRoundTrip(packet.blocks, ourSsrc, nowMs);
      }
    }
  }

  #readRoundTrip(blocks: readonly ReportBlock[], ourSsrc: number, nowMs: number): void {
    const block = blocks.find(({ ssrc }) => ssrc === ourSsrc);
    if (block === undefined) return;
    this.roundTripMs = roundTripMs(toNtp(this.#options.epochMs + nowMs), block) ?? this.roundTripMs;
  }

  /** @returns The number of bytes on the wire. */
  #send(contents: RtcpContents): number {
    const packet = buildRtcp(contents);
    if (this.srtcp === undefined) {
      this.#options.send(packet);
      return packet.length;
    }
    const room = new Uint8Array(packet.length + this.srtcp.local.overheadBytes);
    room.set(packet);
    const lengthBytes = this.srtcp.local.protect(room, packet.length);
    this.#options.send(room.subarray(0, lengthBytes));
    return lengthBytes;
  }

  #contents(streams: ReportedStreams, nowMs: number, frameStartMs: number): RtcpContents {
    const { packetizer } = streams;
    const base = { ssrc: packetizer.ssrc, cname: this.#cname, blocks: this.#blocks(streams, nowMs) };
    if (packetizer.packetsSent === this.#packetsReported) return base;
    return { ...base, sender: this.#senderInfo(streams, nowMs, frameStartMs) };
  }

  #senderInfo(
    { packetizer, rtpClockRateHz }: ReportedStreams,
    nowMs: number,
    frameStartMs: number,
  ): SenderInfo {
    const sinceFrameTicks = Math.round(((nowMs - frameStartMs) * rtpClockRateHz) / 1000);
    return {
      ...toNtp(this.#options.epochMs + nowMs),
      rtpTimestamp: (packetizer.timestamp + sinceFrameTicks) >>> 0,
      packetCount: packetizer.packetsSent,
      octetCount: packetizer.bytesSent,
    };
  }

  #blocks({ reception }: ReportedStreams, nowMs: number): ReportBlock[] {
    const { source } = reception;
    if (source === undefined || source.packetsReceived === 0) return [];
    const last = this.#lastReport?.ssrc === source.ssrc ? this.#lastReport : undefined;
    return [
      {
        ssrc: source.ssrc,
        ...source.report(),
        lastSenderReport: last?.shortNtp ?? 0,
        delaySinceLastSenderReport: last === undefined ? 0 : toShortDelay(nowMs - last.atMs),
      },
    ];
  }
}

/** 96 random bits, the same for the whole call. @see RFC 7022 section 4.2 */
function canonicalName(randomUint32: () => number): string {
  const bytes = Buffer.from(Uint32Array.of(randomUint32(), randomUint32(), randomUint32()).buffer);
  return bytes.toString('base64url');
}
