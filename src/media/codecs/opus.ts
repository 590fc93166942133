import type { Codec, CodecFormat } from './codec.ts';
import { loadOpusLibrary, type OpusLibrary, type OpusSettings } from './opusLibrary.ts';

/**
 * Wideband, the rate of speech recognition; near-transparent speech at a third of G.711's bandwidth; complexity 5 takes
 * about half the time of 10 for a barely audible difference; at 10 % expected loss libopus starts to repeat each packet
 * in the next one at this bitrate, which mobile networks need.
 */
export const DEFAULT_OPUS_SETTINGS: OpusSettings = {
  sampleRateHz: 16_000,
  bitrateBitsPerSecond: 24_000,
  complexity: 5,
  expectedLossPercent: 10,
};

/**
 * Opus, mono in both directions; the decoder downmixes a peer's stereo. RTP's clock is always 48 kHz, and SDP always
 * names two channels. Create one format per thread: its streams share one copy of libopus.
 *
 * @see RFC 6716, RFC 7587 sections 4.1 and 7
 */
export function createOpus(settings: OpusSettings = DEFAULT_OPUS_SETTINGS): CodecFormat {
  const library = loadOpusLibrary();
  const format: CodecFormat = {
    name: 'opus',
    staticPayloadType: undefined,
    sampleRateHz: settings.sampleRateHz,
    rtpClockRateHz: 48_000,
    sdpChannels: 2,
    maxBytesPer20Ms: 1275,
    open: () => openOpus(format, library, settings),
  };
  return format;
}

function openOpus(format: CodecFormat, library: OpusLibrary, settings: OpusSettings): Codec {
  const encoder = library.createEncoder(settings);
  const decoder = library.createDecoder(settings);
  let isClosed = false;
  return {
    format,
    partBytes: undefined,
    encode(samples, out) {
      const length = library.encode(encoder, samples, out);
      if (length < 0)
        throw new RangeError(`Opus cannot encode ${samples.length} samples into ${out.length} bytes`);
      return length;
    },
    decode(payload, out) {
      // libopus takes an empty payload as a request to conceal.
      return payload.length === 0 ? 0 : Math.max(0, library.decode(decoder, payload, out));
    },
    recover(nextPayload, out) {
      return nextPayload.length === 0 ? 0 : Math.max(0, library.recover(decoder, nextPayload, out));
    },
    conceal(out) {
      const count = Math.max(0, library.conceal(decoder, out));
      out.fill(0, count);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      library.free(encoder);
      library.free(decoder);
    },
  };
}
