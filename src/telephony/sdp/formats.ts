import type { TRUNK_CODECS } from '../../calls/trunks/trunk.ts';

export type TrunkCodec = (typeof TRUNK_CODECS)[number];

/** A payload format of an `m=` line. */
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
const COMFORT_NOISE = 'cn';
/** @see RFC 3551 section 6 */
const DYNAMIC_TYPES = Array.from({ length: 32 }, (_, index) => 96 + index);

/** The formats of static payload types, which need no `a=rtpmap`. @see RFC 3551 table 4 */
export const STATIC_FORMATS: readonly Format[] = [
  OFFERED.PCMU,
  OFFERED.PCMA,
  OFFERED.G722,
  { payloadType: 13, encodingName: 'CN', rtpClockRateHz: 8000, channels: 1 },
];

/** DTMF events, one format for each clock rate of the codecs. @see RFC 4733 section 2.3 */
export const OFFERED_EVENTS: readonly Format[] = [
  { payloadType: 101, encodingName: TELEPHONE_EVENT, rtpClockRateHz: 8000, channels: 1 },
  { payloadType: 110, encodingName: TELEPHONE_EVENT, rtpClockRateHz: 48_000, channels: 1 },
];

/** The supported events: 0 to 9, *, #, A to D. */
export const EVENTS_PARAMETER = '0-15';
export const OPUS_PARAMETER = 'useinbandfec=1';

/**
 * Returns true when a peer's format is ours. Encoding names are case-insensitive. Some peers omit the channels of opus,
 * and some give the sample rate of G.722.
 *
 * @see RFC 4855 section 3
 */
export function isSame(ours: Format, theirs: Format): boolean {
  const name = nameOf(ours);
  if (nameOf(theirs) !== name) return false;
  if (name === 'g722') return theirs.rtpClockRateHz === 8000 || theirs.rtpClockRateHz === 16_000;
  return (
    ours.rtpClockRateHz === theirs.rtpClockRateHz && (name === 'opus' || theirs.channels === ours.channels)
  );
}

/** The DTMF format for a codec: the one with the same clock rate, else any, as of phones with opus and 8000 only. */
export function eventsFor(codec: Format, formats: readonly Format[]): Format | undefined {
  return withSameClock(codec, formats.filter(isEvents)) ?? formats.find(isEvents);
}

export function comfortNoiseFor(codec: Format, formats: readonly Format[]): Format | undefined {
  return withSameClock(codec, formats.filter(isComfortNoise));
}

export function isEvents(format: Format): boolean {
  return nameOf(format) === TELEPHONE_EVENT;
}

/**
 * Returns the formats that a peer may send: codecs of the trunk, events and comfort noise, by the names of the media
 * engine.
 */
export function usableFormats(formats: readonly Format[], codecs: readonly TrunkCodec[]): Format[] {
  return formats.flatMap((format) => {
    if (isEvents(format) || isComfortNoise(format)) return [format];
    const name = codecs.find((one) => isSame(OFFERED[one], format));
    return name ? [{ ...OFFERED[name], payloadType: format.payloadType }] : [];
  });
}

/**
 * The numbers of an offer within a call: a format keeps the one that it has, and no other format gets that.
 *
 * @see RFC 3264 section 8.3.2
 */
export function keepNumbers(formats: readonly Format[], known: readonly Format[]): Format[] {
  const taken = new Set(known.map(({ payloadType }) => payloadType));
  const free = DYNAMIC_TYPES.filter(
    (type) => !taken.has(type) && !formats.some((one) => one.payloadType === type),
  );
  return formats.map((format) => {
    const same = known.find((one) => isSame(format, one));
    const payloadType =
      same?.payloadType ?? (taken.has(format.payloadType) ? free.shift() : undefined) ?? format.payloadType;
    return { ...format, payloadType };
  });
}

function isComfortNoise(format: Format): boolean {
  return nameOf(format) === COMFORT_NOISE;
}

function nameOf({ encodingName }: Format): string {
  return encodingName.toLowerCase();
}

function withSameClock({ rtpClockRateHz }: Format, formats: readonly Format[]): Format | undefined {
  return formats.find((format) => format.rtpClockRateHz === rtpClockRateHz);
}
