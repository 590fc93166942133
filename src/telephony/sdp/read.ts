import { isIP } from 'node:net';
import { type MediaDescription, parse, type SessionDescription } from 'sdp-transform';
import type { MediaDirection } from '../../media/mediaSession.ts';
import { type CryptoAttribute, parseCryptoAttribute } from '../../media/srtp/cryptoAttribute.ts';
import { type Format, STATIC_FORMATS } from './formats.ts';
import { unusable } from './unusable.ts';

/** One `m=` line of a peer. */
export interface RemoteStream {
  readonly kind: string;
  readonly protocol: string;
  /** As it was written, for the answer that refuses it. */
  readonly payloads: string;
  /** Absent when it is no audio over RTP, or was switched off by port 0. */
  readonly audio?: RemoteAudio;
}

export interface RemoteAudio {
  readonly address: string;
  readonly port: number;
  /** The same as `port` when RTCP comes there too. */
  readonly rtcpPort: number;
  readonly hasRtcpMux: boolean;
  /** From the peer's side. */
  readonly direction: MediaDirection;
  /** The address is all zero: the old way to put a call on hold. @see RFC 3264 section 8.4 */
  readonly isZero: boolean;
  /** In the order of preference. */
  readonly formats: readonly Format[];
  /** Whether the profile says that packets must be encrypted. */
  readonly isSecure: boolean;
  /** Those that we can use. */
  readonly cryptos: readonly CryptoAttribute[];
}

/** Feedback profiles are their plain ones without feedback. DTLS is not among them. */
const PROFILE = /^RTP\/(S?)AVPF?$/i;
const DIRECTIONS: readonly string[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];

/** @throws {CallwayError} `sdp_unusable` when it is no session description. */
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
    // One malformed line does not spoil the others; without any good one there is no SRTP.
    return [];
  }
}
