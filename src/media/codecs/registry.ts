import type { CodecFormat } from './codec.ts';
import { pcma, pcmu } from './g711.ts';
import { g722 } from './g722/g722.ts';
import { l16 } from './l16.ts';
import { createOpus } from './opus.ts';

/** A codec of SDP's `a=rtpmap`, or of a static payload type. */
interface EncodingDescription {
  /** Case-insensitive. @see RFC 4855 section 3 */
  readonly encodingName: string;
  readonly rtpClockRateHz: number;
  /** The number of channels. Default: 1. */
  readonly channels?: number;
}

export interface CodecRegistry {
  /** @returns Undefined for an unsupported codec; CN and telephone-event are not codecs. */
  find(description: EncodingDescription): CodecFormat | undefined;
  /** Finds the codec of an `m=` line's number that has no `a=rtpmap`. @see RFC 3551 table 4 */
  findStatic(payloadType: number): CodecFormat | undefined;
}

/** The rates that the resampler supports. */
const L16_RATES_HZ = [8000, 16_000, 24_000, 48_000] as const;

/**
 * Creates a thread's registry. Opus is loaded on first use.
 *
 * @param loadOpus - Loads Opus with other settings than the default ones.
 */
export function createCodecRegistry(loadOpus: () => CodecFormat = createOpus): CodecRegistry {
  const fixed = [pcmu, pcma, g722, ...L16_RATES_HZ.map(l16)];
  let opus: CodecFormat | undefined;
  return {
    find({ encodingName, rtpClockRateHz, channels = 1 }) {
      const name = encodingName.toLowerCase();
      if (name === 'opus' && rtpClockRateHz === 48_000 && channels === 2) {
        opus ??= loadOpus();
        return opus;
      }
      return fixed.find(
        (format) =>
          format.name.toLowerCase() === name &&
          format.rtpClockRateHz === rtpClockRateHz &&
          format.sdpChannels === channels,
      );
    },
    findStatic: (payloadType) => fixed.find((format) => format.staticPayloadType === payloadType),
  };
}
