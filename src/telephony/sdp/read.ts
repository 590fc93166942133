import { type MediaDescription, parse, type SessionDescription } from 'sdp-transform';
import { CallwayError } from '../../base/errors.ts';
import type { MediaDirection } from '../../media/mediaSession.ts';
import { type CryptoAttribute, parseCryptoAttribute } from '../../media/srtp/cryptoAttribute.ts';
import { type Format, STATIC_FORMATS } from './formats.ts';

/** An `m=` line of a peer. */
export interface RemoteStream {
  readonly kind: string;
  readonly protocol: string;
  /** The payload types as written, for an answer that rejects the stream. */
  readonly payloads: string;
  /** The audio; undefined unless the stream is audio over RTP with a port. */
  readonly audio: RemoteAudio | undefined;
  /** The reason for which audio with a port cannot be used. */
  readonly error?: Error;
}

export interface RemoteAudio {
  /** The address as written, until it is resolved: an IP address or a host name. */
  readonly address: string;
  readonly port: number;
  /** The RTCP port, equal to `port` with rtcp-mux. */
  readonly rtcpPort: number;
  readonly hasRtcpMux: boolean;
  /** The direction as the peer sees it. */
  readonly direction: MediaDirection;
  /** The zero address, the old form of hold. @see RFC 3264 section 8.4 */
  readonly isZero: boolean;
  /** The formats in the order of preference. */
  readonly formats: readonly Format[];
  /** True when the profile requires SRTP. */
  readonly isSecure: boolean;
  /** The supported crypto lines. */
  readonly cryptos: readonly CryptoAttribute[];
}

/** Codes of the Warning header. @see RFC 3261 section 20.43 */
export const WARNING = {
  networkProtocol: 300,
  transportProtocol: 302,
  mediaType: 304,
  mediaFormat: 305,
  other: 399,
} as const;

/** Feedback profiles are treated as their basic ones. DTLS is not supported. */
const PROFILE = /^RTP\/(S?)AVPF?$/i;
/** Matches the port count in `audio 4000/2`, and the blanks in `rtpmap : 0`; the rest stays. */
const PORT_COUNT = /^(\w+ \d+)\/\d+()/;
/** Some peers write the lifetime of multicast packets behind their own address. */
const CONNECTION = /^in\s+ip([46])\s+([^\s/]+)(?:\/\d+)*/i;
const BLANKS_AT_COLON = /^([\w-]+) ?(:) ?/;
/** The longest reason. It goes into a header, and may contain text of the peer. */
const MAX_REASON_CHARACTERS = 160;
/** The clock rate of a mapping without one. */
const DEFAULT_CLOCK_RATE_HZ = 8000;
const DIRECTIONS: readonly string[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];

/** @throws {CallwayError} `sdp_unusable` for anything but a session description. */
export function readStreams(body: string): RemoteStream[] {
  const tidied = tidy(body);
  if (!/^v=0$/m.test(tidied)) throw unusable('it does not begin with v=0');
  const description = parse(tidied.replaceAll('\n', '\r\n'));
  if (description.media.length === 0) throw unusable('it has no m= line');
  return description.media.map((media) => {
    const stream = { kind: media.type, protocol: media.protocol, payloads: String(media.payloads ?? '') };
    if (media.type !== 'audio' || !isPort(media.port)) return { ...stream, audio: undefined };
    if (PROFILE.test(media.protocol)) return { ...stream, audio: readAudio(description, media) };
    const error = unusable(`its profile ${media.protocol} is not supported`, WARNING.transportProtocol);
    return { ...stream, audio: undefined, error };
  });
}

/**
 * The error for an unusable offer or answer; a request with the offer gets 488.
 *
 * @param warning - Code of the Warning header, as `sipWarning` of the error's `extra`.
 */
export function unusable(why: string, warning: number = WARNING.other): CallwayError {
  const message = `the session description cannot be used: ${why.slice(0, MAX_REASON_CHARACTERS)}`;
  return new CallwayError('unsupported', 'sdp_unusable', message, { extra: { sipWarning: warning } });
}

/** The Warning header of a response that refuses an offer. */
export function warningOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof CallwayError ? error.extra?.sipWarning : undefined;
  return `${code ?? WARNING.other} callway "${text.replace(/["\\\r\n]/g, "'")}"`;
}

/** Removes what peers add to the grammar: blanks, line ends of other systems, capitals, a count of ports. */
function tidy(body: string): string {
  const lines = body.split(/[\r\n]+/).map((line) => {
    const [, type = '', value = ''] = /^([a-z])\s*=\s*(.*)$/i.exec(line.trim()) ?? [];
    return tidyLine(type.toLowerCase(), value);
  });
  return lines.filter((line) => line !== '=').join('\n');
}

function tidyLine(type: string, value: string): string {
  if (type === 'c') return `c=${value.replace(CONNECTION, 'IN IP$1 $2')}`;
  if (type !== 'm' && type !== 'a') return `${type}=${value}`;
  const spaced = value.replace(/\s+/g, ' ');
  const bare = spaced.replace(type === 'm' ? PORT_COUNT : BLANKS_AT_COLON, '$1$2');
  return `${type}=${bare.replace(/^[\w-]+/, (name) => name.toLowerCase())}`;
}

function readAudio(description: SessionDescription, media: MediaDescription): RemoteAudio {
  const address = media.connection?.ip ?? description.connection?.ip ?? '';
  const hasRtcpMux = media.rtcpMux !== undefined;
  const rtcpPort = media.rtcp?.port;
  return {
    address,
    port: media.port,
    rtcpPort: hasRtcpMux ? media.port : isPort(rtcpPort) ? rtcpPort : media.port + 1,
    hasRtcpMux,
    direction: readDirection(media.direction ?? description.direction),
    isZero: isZero(address),
    formats: readFormats(media),
    isSecure: PROFILE.exec(media.protocol)?.[1] !== '',
    cryptos: (media.crypto ?? []).flatMap(readCrypto),
  };
}

/** Returns true when a host is the zero address, in any notation. */
export function isZero(host: string): boolean {
  return /^[0:.]+$/.test(host);
}

function isPort(port: unknown): port is number {
  return Number.isInteger(port) && Number(port) > 0 && Number(port) <= 65_535;
}

function readDirection(text: string | undefined): MediaDirection {
  return text !== undefined && DIRECTIONS.includes(text) ? (text as MediaDirection) : 'sendrecv';
}

function readFormats(media: MediaDescription): Format[] {
  return String(media.payloads ?? '')
    .split(' ')
    .flatMap((text) => {
      const payloadType = /^\d{1,3}$/.test(text) ? Number(text) : -1;
      const mapped = media.rtp.find(({ payload }) => payload === payloadType);
      if (payloadType < 0 || payloadType > 127) return [];
      if (!mapped) return STATIC_FORMATS.filter((format) => format.payloadType === payloadType);
      const { codec, rate, encoding } = mapped;
      const rtpClockRateHz = rate || DEFAULT_CLOCK_RATE_HZ;
      return [{ payloadType, encodingName: String(codec), rtpClockRateHz, channels: Number(encoding ?? 1) }];
    });
}

function readCrypto(line: NonNullable<MediaDescription['crypto']>[number]): CryptoAttribute[] {
  try {
    const attribute = parseCryptoAttribute(
      [line.id, line.suite, line.config, line.sessionConfig ?? ''].join(' '),
    );
    return attribute ? [attribute] : [];
  } catch {
    // A malformed line is skipped; without a valid one there is no SRTP.
    return [];
  }
}
