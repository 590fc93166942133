import { invalid } from '../../base/errors.ts';
import type { Codec, CodecFormat } from '../codecs/codec.ts';
import type { CodecRegistry } from '../codecs/registry.ts';
import type { NegotiatedCodec } from '../mediaSession.ts';
import type { MediaQuality } from '../quality/mediaQuality.ts';
import { rateMedia } from '../quality/mediaQuality.ts';
import { isSampleRate, type SampleRateHz } from '../resample/resampler.ts';
import type { ReportedStreams } from '../rtcp/rtcpSession.ts';
import type { PacketizerStart } from '../rtp/packetizer.ts';
import { RtpReceiver } from './rtpReceiver.ts';
import { RtpSender } from './rtpSender.ts';

/** Both directions of a call with one codec; another codec is another pair. */
export interface RtpTransceiver {
  readonly codec: Codec;
  readonly sampleRateHz: SampleRateHz;
  readonly inbound: RtpReceiver;
  readonly outbound: RtpSender;
  /** The same, as RTCP tells of them. */
  readonly reported: ReportedStreams;
}

export interface StreamsOptions {
  readonly format: CodecFormat;
  readonly start: PacketizerStart;
  readonly send: (packet: Uint8Array) => void;
  readonly onDigit: (digit: string, durationMs: number) => void;
}

/** @throws {CallwayError} `codec_unsupported` when there is no such codec here. */
export function findFormat(registry: CodecRegistry, codec: NegotiatedCodec): CodecFormat {
  const format = registry.find(codec);
  if (format !== undefined && isSampleRate(format.sampleRateHz)) return format;
  const { encodingName, rtpClockRateHz, channels } = codec;
  throw invalid(
    'codec_unsupported',
    `the codec ${encodingName}/${rtpClockRateHz}/${channels} is not spoken here`,
  );
}

export function openTransceiver({ format, start, send, onDigit }: StreamsOptions): RtpTransceiver {
  const codec = format.open();
  const { sampleRateHz, rtpClockRateHz } = format;
  if (!isSampleRate(sampleRateHz)) throw new RangeError(`no speech comes at ${sampleRateHz} Hz`);
  const payloadTypes = { speech: -1, dtmf: undefined, comfortNoise: undefined };
  const inbound = new RtpReceiver(codec, payloadTypes, onDigit);
  const outbound = new RtpSender({ codec, start, send });
  const reported = { packetizer: outbound.packetizer, reception: inbound.reception, rtpClockRateHz };
  return { codec, sampleRateHz, inbound, outbound, reported };
}

/** What a call's earlier codecs have left. */
export interface PastTraffic {
  readonly sent: number;
  readonly received: number;
  readonly lost: number;
  readonly late: number;
  readonly bursts: number;
}

export const NO_TRAFFIC: PastTraffic = { sent: 0, received: 0, lost: 0, late: 0, bursts: 0 };

export function addTraffic(past: PastTraffic, { inbound, outbound }: RtpTransceiver): PastTraffic {
  const { reception, buffer } = inbound;
  return {
    sent: past.sent + outbound.packetizer.packetsSent,
    received: past.received + reception.packetsReceived,
    lost: past.lost + reception.packetsLost,
    late: past.late + buffer.figures.late,
    bursts: past.bursts + reception.lossBursts,
  };
}

export function figuresOf(
  streams: RtpTransceiver,
  past: PastTraffic,
  roundTripMs: number | undefined,
): MediaQuality {
  const all = addTraffic(past, streams);
  return rateMedia({
    codec: streams.codec.format.name,
    packetsReceived: all.received,
    packetsLost: all.lost,
    packetsLate: all.late,
    lossBursts: all.bursts,
    jitterMs: streams.inbound.reception.jitterMs,
    bufferDelayMs: streams.inbound.meanDelayMs,
    roundTripMs,
  });
}
