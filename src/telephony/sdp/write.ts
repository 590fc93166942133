import { isIPv6 } from 'node:net';
import { type MediaDescription, write } from 'sdp-transform';
import type { MediaDirection } from '../../media/mediaSession.ts';
import { type CryptoAttribute, formatCryptoAttribute } from '../../media/srtp/cryptoAttribute.ts';
import { EVENTS_PARAMETER, type Format, isEvents, OPUS_PARAMETER } from './formats.ts';
import type { RemoteStream } from './read.ts';

export interface LocalAudio {
  readonly port: number;
  readonly protocol: string;
  readonly formats: readonly Format[];
  readonly direction: MediaDirection;
  readonly hasRtcpMux: boolean;
  readonly cryptos: readonly CryptoAttribute[];
}

const PACKET_DURATION_MS = 20;

/**
 * The media sections of our description.
 *
 * @param streams - Our stream, and the peer's streams that are rejected.
 */
export function writeStreams(
  address: string,
  streams: readonly (LocalAudio | RemoteStream)[],
): MediaDescription[] {
  return streams.map((stream) => ('formats' in stream ? audioOf(stream, address) : refused(stream)));
}

/** @param version - Increases with each change. @see RFC 3264 section 8 */
export function writeDescription(
  origin: { readonly sessionId: number; readonly version: number; readonly address: string },
  media: MediaDescription[],
): string {
  const { sessionId, version, address } = origin;
  const ipVer = isIPv6(address) ? 6 : 4;
  return write({
    version: 0,
    origin: { username: '-', sessionId, sessionVersion: version, netType: 'IN', ipVer, address },
    name: '-',
    connection: { version: ipVer, ip: address },
    timing: { start: 0, stop: 0 },
    media,
  });
}

function audioOf(audio: LocalAudio, address: string): MediaDescription {
  const { formats, hasRtcpMux, port } = audio;
  return {
    type: 'audio',
    port,
    protocol: audio.protocol,
    payloads: formats.map(({ payloadType }) => payloadType).join(' '),
    rtp: formats.map((format) => ({
      payload: format.payloadType,
      codec: format.encodingName,
      rate: format.rtpClockRateHz,
      encoding: format.channels === 1 ? undefined : format.channels,
    })),
    fmtp: formats.flatMap((format) => {
      const config = parameterOf(format);
      return config === undefined ? [] : [{ payload: format.payloadType, config }];
    }),
    rtcp: { port: hasRtcpMux ? port : port + 1, netType: 'IN', ipVer: isIPv6(address) ? 6 : 4, address },
    rtcpMux: hasRtcpMux ? 'rtcp-mux' : undefined,
    ptime: PACKET_DURATION_MS,
    crypto: audio.cryptos.length === 0 ? undefined : audio.cryptos.map(cryptoOf),
    direction: audio.direction,
  };
}

function parameterOf(format: Format): string | undefined {
  if (isEvents(format)) return EVENTS_PARAMETER;
  return format.encodingName.toLowerCase() === 'opus' ? OPUS_PARAMETER : undefined;
}

function cryptoOf(attribute: CryptoAttribute): NonNullable<MediaDescription['crypto']>[number] {
  const [id = '', suite = '', config = ''] = formatCryptoAttribute(attribute).split(' ');
  return { id: Number(id), suite, config };
}

function refused({ kind, protocol, payloads }: RemoteStream): MediaDescription {
  return { type: kind, port: 0, protocol, payloads, rtp: [], fmtp: [] };
}
