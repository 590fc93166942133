import type { TRUNK_CODECS } from '../../calls/trunks/trunk.ts';

export type TrunkCodec = (typeof TRUNK_CODECS)[number];

/** One payload format of an `m=` line. */
export interface Format {
  readonly payloadType: number;
  readonly encodingName: string;
  readonly rtpClockRateHz: number;
  readonly channels: number;
}

export const OFFERED: Readonly<Record<TrunkCodec, Format>> = {
  PCMU: { payloadType: 0, encodingName: 'PCMU', rtpClockRateHz: 8000, channels: 1 },
  PCMA: { payloadType: 8, encodingName: 'PCMA', rtpClockRateHz: 8000, channels: 1 },
  // The clock rate of G.722 is 8000, though it is sampled at 16000. RFC 3551 section 4.5.2
  G722: { payloadType: 9, encodingName: 'G722', rtpClockRateHz: 8000, channels: 1 },
  opus: { payloadType: 111, encodingName: 'opus', rtpClockRateHz: 48_000, channels: 2 },
};

const TELEPHONE_EVENT = 'telephone-event';
const COMFORT_NOISE = 'CN';

/** The formats of static payload types, which need no `a=rtpmap`. @see RFC 3551 table 4 */
export const STATIC_FORMATS: readonly Format[] = [
  OFFERED.PCMU,
  OFFERED.PCMA,
  OFFERED.G722,
  { payloadType: 13, encodingName: COMFORT_NOISE, rtpClockRateHz: 8000, channels: 1 },
];

/** DTMF events, one format for each clock rate of the codecs. @see RFC 4733 section 2.3 */
export const OFFERED_EVENTS: readonly Format[] = [
  { payloadType: 101, encodingName: TELEPHONE_EVENT, rtpClockRateHz: 8000, channels: 1 },
  { payloadType: 110, encodingName: TELEPHONE_EVENT, rtpClockRateHz: 48_000, channels: 1 },
];

/** The supported events: 0 to 9, *, #, A to D. */
export const EVENTS_PARAMETER = '0-15';
export const OPUS_PARAMETER = 'useinbandfec=1';

export function isSame(one: Format, other: Format): boolean {
  return (
    one.encodingName.toLowerCase() === other.encodingName.toLowerCase() &&
    one.rtpClockRateHz === other.rtpClockRateHz &&
    one.channels === other.channels
  );
}

/** The DTMF format for a codec: the one with the same clock rate. */
export function eventsFor(codec: Format, formats: readonly Format[]): Format | undefined {
  return withSameClock(codec, formats, TELEPHONE_EVENT);
}

export function comfortNoiseFor(codec: Format, formats: readonly Format[]): Format | undefined {
  return withSameClock(codec, formats, COMFORT_NOISE);
}

export function isEvents(format: Format): boolean {
  return format.encodingName.toLowerCase() === TELEPHONE_EVENT;
}

function withSameClock(codec: Format, formats: readonly Format[], name: string): Format | undefined {
  return formats.find(
    (format) =>
      format.encodingName.toLowerCase() === name.toLowerCase() &&
      format.rtpClockRateHz === codec.rtpClockRateHz,
  );
}
