import { isIP } from 'node:net';
import { type MediaDescription, parse, type SessionDescription } from 'sdp-transform';
import { CallwayError } from '../../base/errors.ts';
import type { MediaDirection } from '../../media/mediaSession.ts';
import { type CryptoAttribute, parseCryptoAttribute } from '../../media/srtp/cryptoAttribute.ts';
import { type Format, STATIC_FORMATS } from './formats.ts';

/** One `m=` line of a peer. */
export interface RemoteStream {
  readonly kind: string;
  readonly protocol: string;
  /** As written, for an answer that rejects the stream. */
  readonly payloads: string;
  /** Absent unless it is audio over RTP with a port. */
  readonly audio?: RemoteAudio;
}

export interface RemoteAudio {
  readonly address: string;
  readonly port: number;
  /** Equal to `port` with rtcp-mux. */
  readonly rtcpPort: number;
  readonly hasRtcpMux: boolean;
  /** As seen by the peer. */
  readonly direction: MediaDirection;
  /** The zero address, the old form of hold. @see RFC 3264 section 8.4 */
  readonly isZero: boolean;
  /** In order of preference. */
  readonly formats: readonly Format[];
  /** Whether the profile requires SRTP. */
  readonly isSecure: boolean;
  /** The supported ones. */
  readonly cryptos: readonly CryptoAttribute[];
}

/** Feedback profiles are treated as their basic ones. DTLS is not supported. */
const PROFILE = /^RTP\/(S?)AVPF?$/i;
const DIRECTIONS: readonly string[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];

/** @throws {CallwayError} `sdp_unusable` for anything but a session description. */
export function readStreams(body: string): RemoteStream[] {
  if (!/^v=0\r?$/m.test(body)) throw unusable('it does not begin with v=0');
  const description = parse(body);
  if (description.media.length === 0) throw unusable('it has no m= line');
  return description.media.map((media) => {
    const stream = { kind: media.type, protocol: media.protocol, payloads: String(media.payloads ?? '') };
    const audio = readAudio(description, media);
    return audio ? { ...stream, audio } : stream;
  });
}

/** The error for an unusable offer or answer; a request with the offer gets 488. */
export function unusable(why: string): CallwayError {
  return new CallwayError('unsupported', 'sdp_unusable', `the session description cannot be used: ${why}`);
}

function readAudio(description: SessionDescription, media: MediaDescription): RemoteAudio | undefined {
  const profile = PROFILE.exec(media.protocol);
  const address = media.connection?.ip ?? description.connection?.ip ?? '';
  if (media.type !== 'audio' || !profile || !isPort(media.port) || isIP(address) === 0) return undefined;
  const hasRtcpMux = media.rtcpMux !== undefined;
  const rtcpPort = media.rtcp?.port;
  return {
    address,
    port: media.port,
    rtcpPort: hasRtcpMux ? media.port : isPort(rtcpPort) ? rtcpPort : media.port + 1,
    hasRtcpMux,
    direction: readDirection(media.direction ?? description.direction),
    isZero: /^[0:.]+$/.test(address),
    formats: readFormats(media),
    isSecure: profile[1] !== '',
    cryptos: (media.crypto ?? []).flatMap(readCrypto),
  };
}

function isPort(port: unknown): port is number {
  return Number.isInteger(port) && Number(port) > 0 && Number(port) <= 65_535;
}

function readDirection(text: string | undefined): MediaDirection {
  return text !== undefined && DIRECTIONS.includes(text) ? (text as MediaDirection) : 'sendrecv';
}

function readFormats(media: MediaDescription): Format[] {
  return String(media.payloads ?? '')
    .split(/\s+/)
    .flatMap((text) => {
      const payloadType = /^\d{1,3}$/.test(text) ? Number(text) : -1;
      const mapped = media.rtp.find(({ payload }) => payload === payloadType);
      if (payloadType < 0 || payloadType > 127) return [];
      if (!mapped) return STATIC_FORMATS.filter((format) => format.payloadType === payloadType);
      const { codec: encodingName, rate: rtpClockRateHz = 8000, encoding } = mapped;
      return [
        { payloadType, encodingName: String(encodingName), rtpClockRateHz, channels: Number(encoding ?? 1) },
      ];
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
