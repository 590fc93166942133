import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { CodecFormat } from '../codecs/codec.ts';
import type { CodecRegistry } from '../codecs/registry.ts';
import { type MediaObservations, type MediaQuality, rateMedia } from '../mediaQuality.ts';
import { MediaSampler } from '../mediaSamples.ts';
import type { DtmfDigit, EmitMediaEvent, MediaCounters, MediaParameters } from '../mediaSession.ts';
import { RtcpSession } from '../rtcp/rtcpSession.ts';
import { type SrtpContexts, srtpContextsFor } from '../srtp/srtpContexts.ts';
import { TICK_INTERVAL_MS } from '../ticker/tickSchedule.ts';
import { RtpTransport, type SocketPair } from '../transport/rtpTransport.ts';
import type { Latching } from '../transport/sourceLatch.ts';
import { MediaTimeout } from './mediaTimeout.ts';
import {
  addTraffic,
  closeTransceiver,
  findFormat,
  NO_TRAFFIC,
  observationsOf,
  openTransceiver,
  type RtpTransceiver,
  receivedFormats,
} from './rtpTransceiver.ts';
import { type AdvanceTicks, TickAlignment } from './tickAlignment.ts';

export interface RtpSessionOptions {
  readonly clock: Clock;
  readonly codecs: CodecRegistry;
  /** Returns an unpredictable number, 0..2^32-1. */
  readonly randomUint32: () => number;
  readonly sockets: SocketPair;
  readonly latching: Latching | undefined;
  readonly timeoutMs: number;
  readonly emit: EmitMediaEvent;
  /** A digit that came as telephone events. */
  readonly onDigit: (digit: DtmfDigit) => void;
  readonly advanceTicks: AdvanceTicks;
}

export interface RtpReport {
  readonly packetsSent: number;
  readonly quality?: MediaQuality;
}

/**
 * The RTP side of a call: sockets, SRTP, the sender and receiver of the current codec, RTCP and the media timeout.
 * Packets are received as they come; everything else happens on the tick.
 */
export class RtpSession {
  readonly #options: RtpSessionOptions;
  /** Unix time at the monotonic clock's zero. */
  readonly #epochMs: number;
  readonly #transport: RtpTransport;
  readonly #rtcp: RtcpSession;
  readonly #timeout: MediaTimeout;
  #srtp: SrtpContexts | undefined;
  #direction: MediaParameters['direction'] = 'inactive';
  #transceiver: RtpTransceiver | undefined;
  #earlierTraffic = NO_TRAFFIC;
  #packetsDue = 0;
  /** The time of the next tick; undefined before the first one. */
  #nextTickMs: number | undefined;
  readonly #sampler = new MediaSampler();
  readonly #alignment: TickAlignment;

  constructor(options: RtpSessionOptions) {
    const { advanceTicks, clock, emit, latching, randomUint32, sockets, timeoutMs } = options;
    const nowMs = clock.monotonicMs();
    this.#options = options;
    this.#alignment = new TickAlignment(advanceTicks);
    this.#epochMs = clock.now() - nowMs;
    this.#timeout = new MediaTimeout({
      timeoutMs,
      nowMs,
      onFirstPacket: (atMs) => emit('firstPacket', { atMs: this.#epochMs + atMs }),
      onTimeout: () => emit('mediaTimeout', { forMs: timeoutMs }),
    });
    this.#rtcp = new RtcpSession({
      startMs: nowMs,
      epochMs: this.#epochMs,
      randomUint32,
      send: (packet) => this.#transport.sendRtcp(packet),
    });
    this.#transport = new RtpTransport({
      sockets,
      latching,
      nowMs: () => clock.monotonicMs(),
      onRtp: (packet, atMs) => {
        this.#transceiver?.receiver.receive(packet, atMs, this.#isOverdue(atMs));
        this.#timeout.received(atMs);
      },
      onRtcp: (bytes, atMs) => {
        const ssrc = this.#transceiver?.sender.packetizer.ssrc;
        if (ssrc !== undefined) this.#rtcp.receive(bytes, ssrc, atMs);
      },
    });
  }

  /**
   * Applies the result of an offer and answer. A codec that stays keeps its stream, sequence numbers and jitter buffer.
   *
   * @throws {CallwayError} `codec_unsupported`.
   */
  connect(parameters: MediaParameters): RtpTransceiver {
    const { codec, dtmf, received, direction, remote, srtp } = parameters;
    const transceiver = this.#transceiverFor(findFormat(this.#options.codecs, codec));
    this.#transceiver = transceiver;
    this.#srtp = srtpContextsFor(srtp, this.#srtp);
    this.#rtcp.srtcp = this.#srtp?.srtcp;
    const { receiver, sender } = transceiver;
    receiver.formats = receivedFormats(this.#options.codecs, received);
    sender.payloadType = codec.payloadType;
    sender.dtmf = dtmf;
    sender.srtp = this.#srtp?.outbound;
    this.#transport.connect(remote, receiver.formats, this.#srtp?.inbound);
    this.#direction = direction;
    this.#timeout.expect(direction === 'sendrecv', this.#options.clock.monotonicMs());
    return transceiver;
  }

  /** @throws {CallwayError} `media_not_connected`. */
  get transceiver(): RtpTransceiver {
    if (this.#transceiver !== undefined) return this.#transceiver;
    throw new CallwayError('conflict', 'media_not_connected', 'the call’s audio is not connected yet');
  }

  get isConnected(): boolean {
    return this.#transceiver !== undefined;
  }

  get isSending(): boolean {
    return this.#direction === 'sendrecv' || this.#direction === 'sendonly';
  }

  /** The Unix time in ms, with fractions. */
  get nowMs(): number {
    return this.#epochMs + this.#options.clock.monotonicMs();
  }

  /**
   * Starts this tick's packet.
   *
   * @returns True when the packet takes audio: false while the call is on hold, and while a DTMF event is sent
   *   instead.
   */
  startPacket(): boolean {
    const { sender } = this.transceiver;
    if (!this.isSending) {
      sender.skip(1);
      return false;
    }
    this.#packetsDue++;
    return !sender.sendDtmf();
  }

  /** Passes over ticks that the thread was too late for. */
  skip(frames: number): void {
    this.transceiver.sender.skip(frames);
    if (this.isSending) this.#packetsDue += frames;
  }

  /**
   * Ends the tick: RTCP, timeouts, limits.
   *
   * @param frameStartMs - The time at which this tick's frame was due.
   * @param hasListeners - Other calls that take this one's frames at their own ticks.
   */
  endTick(nowMs: number, frameStartMs: number, hasListeners: boolean): void {
    const { receiver, sender, reported } = this.transceiver;
    this.#transport.tick(nowMs);
    receiver.expireDigit(nowMs);
    sender.settleDigits();
    this.#rtcp.tick(reported, nowMs, frameStartMs);
    this.#timeout.tick(nowMs);
    this.#nextTickMs = frameStartMs + TICK_INTERVAL_MS;
    if (!hasListeners) this.#alignment.tick(receiver.buffer);
    const sample = this.#sampler.tick(this.#epochMs + nowMs, () => this.#observations());
    if (sample) this.#options.emit('sample', sample);
  }

  quality(): MediaQuality {
    return rateMedia(this.#observations());
  }

  get counters(): Omit<MediaCounters, 'callerFramesDropped' | 'agentSamplesDropped' | 'playoutUnderruns'> {
    const { drops } = this.#transport;
    return {
      packetsDue: this.#packetsDue,
      malformedPackets: drops.malformed,
      failedPackets: drops.failed + (this.#transceiver?.receiver.failures ?? 0),
      unauthenticPackets: drops.unauthentic,
      unknownPayloadTypes: drops.unknownPayloadType,
      foreignSourcePackets: drops.foreignSource,
      floodedPackets: drops.flooded,
      malformedRtcpPackets: this.#rtcp.malformedPackets,
      socketFailures: this.#transport.socketFailures,
    };
  }

  /** Sends BYE, closes the sockets and frees the codec. Call once. */
  async close(): Promise<RtpReport> {
    const transceiver = this.#transceiver;
    if (transceiver !== undefined) this.#rtcp.leave(transceiver.reported, this.#options.clock.monotonicMs());
    await this.#transport.close();
    if (transceiver === undefined) return { packetsSent: 0 };
    const report = {
      packetsSent: addTraffic(this.#earlierTraffic, transceiver).sent,
      quality: this.quality(),
    };
    this.#transceiver = undefined;
    closeTransceiver(transceiver);
    return report;
  }

  /** Returns true when the thread is stalled, so that packets have waited in the socket for an unknown time. */
  #isOverdue(nowMs: number): boolean {
    return this.#nextTickMs !== undefined && nowMs > this.#nextTickMs + TICK_INTERVAL_MS;
  }

  #observations(): MediaObservations {
    return observationsOf(this.transceiver, this.#earlierTraffic, this.#rtcp.roundTripMs);
  }

  #transceiverFor(format: CodecFormat): RtpTransceiver {
    const current = this.#transceiver;
    if (current?.codec.format === format) return current;
    const { randomUint32, onDigit } = this.#options;
    const transceiver = openTransceiver({
      format,
      // The first wrap is far away: a receiver that joins late then counts SRTP's rollovers as we do.
      start: {
        ssrc: randomUint32(),
        sequenceNumber: randomUint32() & 0x7fff,
        timestamp: randomUint32(),
      },
      send: (packet) => this.#transport.send(packet),
      onDigit,
    });
    if (current !== undefined) {
      this.#earlierTraffic = addTraffic(this.#earlierTraffic, current);
      current.sender.interruptDigits('the call has another codec');
      closeTransceiver(current);
    }
    return transceiver;
  }
}
