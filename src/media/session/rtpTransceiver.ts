import { invalid } from '../../base/errors.ts';
import type { Codec, CodecFormat } from '../codecs/codec.ts';
import type { CodecRegistry } from '../codecs/registry.ts';
import type { MediaObservations } from '../mediaQuality.ts';
import type { DtmfDigit, NegotiatedCodec } from '../mediaSession.ts';
import { isSampleRate, type SampleRateHz } from '../resample/resampler.ts';
import type { ReportedStreams } from '../rtcp/rtcpSession.ts';
import type { PacketizerStart } from '../rtp/packetizer.ts';
import { type ReceivedFormat, RtpReceiver } from './rtpReceiver.ts';
import { RtpSender } from './rtpSender.ts';

/** Both directions of a call with one codec. A change of codec needs a new transceiver. */
export interface RtpTransceiver {
  readonly codec: Codec;
  readonly sampleRateHz: SampleRateHz;
  readonly receiver: RtpReceiver;
  readonly sender: RtpSender;
  /** The streams that RTCP reports on. */
  readonly reported: ReportedStreams;
}

export interface RtpTransceiverOptions {
  readonly format: CodecFormat;
  readonly start: PacketizerStart;
  readonly send: (packet: Uint8Array) => void;
  readonly onDigit: (digit: DtmfDigit) => void;
}

/** @throws {CallwayError} `codec_unsupported`. */
export function findFormat(registry: CodecRegistry, codec: NegotiatedCodec): CodecFormat {
  const format = registry.find(codec);
  if (format !== undefined && isSampleRate(format.sampleRateHz)) return format;
  const { encodingName, rtpClockRateHz, channels } = codec;
  throw invalid(
    'codec_unsupported',
    `the codec ${encodingName}/${rtpClockRateHz}/${channels} is not supported`,
  );
}

/** @throws {RangeError} When the format has a sample rate that the resamplers do not take. */
export function openTransceiver({ format, start, send, onDigit }: RtpTransceiverOptions): RtpTransceiver {
  const { sampleRateHz, rtpClockRateHz } = format;
  if (!isSampleRate(sampleRateHz)) throw new RangeError(`${sampleRateHz} Hz is not a supported sample rate`);
  const codec = format.open();
  const receiver = new RtpReceiver(codec, onDigit);
  const sender = new RtpSender({ codec, start, send });
  const reported = { packetizer: sender.packetizer, reception: receiver.reception, rtpClockRateHz };
  return { codec, sampleRateHz, receiver, sender, reported };
}

/** Frees the memory of its codecs. Idempotent. */
export function closeTransceiver({ codec, receiver }: RtpTransceiver): void {
  receiver.close();
  codec.close();
}

/** Returns the formats that the peer may send, by payload type. Unsupported formats are left out. */
export function receivedFormats(
  registry: CodecRegistry,
  received: readonly NegotiatedCodec[],
): ReadonlyMap<number, ReceivedFormat> {
  const formats = new Map<number, ReceivedFormat>();
  for (const description of received) {
    const format = receivedFormat(registry, description);
    if (format && !formats.has(description.payloadType)) formats.set(description.payloadType, format);
  }
  return formats;
}

function receivedFormat(registry: CodecRegistry, description: NegotiatedCodec): ReceivedFormat | undefined {
  const { encodingName, rtpClockRateHz } = description;
  if (encodingName.toLowerCase() === 'telephone-event') return { kind: 'dtmf', rtpClockRateHz };
  if (encodingName.toLowerCase() === 'cn') return { kind: 'comfort_noise' };
  const codec = registry.find(description);
  return codec && { kind: 'speech', codec };
}

/** Totals of one or more transceivers. */
export interface RtpTraffic {
  readonly sent: number;
  readonly received: number;
  readonly lost: number;
  readonly late: number;
  readonly shed: number;
  readonly concealedMs: number;
  readonly underruns: number;
  readonly lossBursts: number;
}

export const NO_TRAFFIC: RtpTraffic = {
  sent: 0,
  received: 0,
  lost: 0,
  late: 0,
  shed: 0,
  concealedMs: 0,
  underruns: 0,
  lossBursts: 0,
};

/** @param earlier - The traffic of the call's earlier codecs. */
export function addTraffic(earlier: RtpTraffic, { receiver, sender }: RtpTransceiver): RtpTraffic {
  const { reception } = receiver;
  const { late, shed, concealedMs, underruns } = receiver.buffer.statistics;
  return {
    sent: earlier.sent + sender.packetizer.packetsSent,
    received: earlier.received + reception.packetsReceived,
    lost: earlier.lost + reception.packetsLost,
    late: earlier.late + late,
    shed: earlier.shed + shed,
    concealedMs: earlier.concealedMs + concealedMs,
    underruns: earlier.underruns + underruns,
    lossBursts: earlier.lossBursts + reception.lossBursts,
  };
}

/** Returns the call's observations so far. @param earlier - The traffic of the call's earlier codecs. */
export function observationsOf(
  transceiver: RtpTransceiver,
  earlier: RtpTraffic,
  roundTripMs: number | undefined,
): MediaObservations {
  const { codec, receiver } = transceiver;
  const { received, lost, late, shed, concealedMs, underruns, lossBursts } = addTraffic(earlier, transceiver);
  return {
    codec: codec.format.name,
    packetsReceived: received,
    packetsLost: lost,
    packetsLate: late,
    shed,
    concealedMs,
    underruns,
    lossBursts,
    jitterMs: receiver.reception.jitterMs,
    jitterBufferMs: receiver.buffer.delayMs,
    bufferDelayMs: receiver.meanDelayMs,
    roundTripMs,
  };
}
