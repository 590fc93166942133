import type { TrunkInput } from '../../calls/trunks/trunk.ts';
import type { MediaDirection, MediaParameters } from '../../media/mediaSession.ts';
import type { CryptoAttribute } from '../../media/srtp/cryptoAttribute.ts';
import { eventsFor, type Format, isSame, OFFERED, type TrunkCodec, usableFormats } from './formats.ts';
import { type RemoteAudio, type RemoteStream, unusable, WARNING } from './read.ts';

export type SrtpMode = TrunkInput['srtp'];

/** The result of an offer/answer exchange. */
export interface Agreement {
  readonly parameters: MediaParameters;
  /** The peer has put us on hold. */
  readonly isHeld: boolean;
}

/** The stream and codec chosen from an offer. */
export interface Choice {
  /** The index of the `m=` line. */
  readonly index: number;
  readonly audio: RemoteAudio;
  /** The codec as the peer writes it. */
  readonly codec: Format;
  readonly remoteKey: CryptoAttribute | undefined;
}

/**
 * Chooses from a peer's offer: the first usable audio stream, encrypted ones first, and the trunk's preferred codec of
 * it.
 *
 * @throws {CallwayError} `sdp_unusable`
 */
export function chooseOfOffer(
  streams: readonly RemoteStream[],
  codecs: readonly TrunkCodec[],
  srtp: SrtpMode,
): Choice {
  const choices = streams.flatMap(({ audio }, index) => {
    const remoteKey = audio && srtp !== 'off' ? audio.cryptos[0] : undefined;
    if (!audio || (audio.isSecure && !remoteKey) || (srtp === 'required' && !remoteKey)) return [];
    const codec = firstCommon(codecs, audio.formats);
    return codec ? [{ index, audio, codec, remoteKey }] : [];
  });
  const choice = choices.find(({ remoteKey }) => remoteKey) ?? choices[0];
  if (!choice) throw unusableOffer(streams, codecs, srtp);
  return choice;
}

/**
 * Reads the answer to our offer.
 *
 * @param offered - Our offer.
 * @throws {CallwayError} `sdp_unusable`
 */
export function readAnswer(
  streams: readonly RemoteStream[],
  offered: {
    readonly codecs: readonly TrunkCodec[];
    readonly srtp: SrtpMode;
    readonly keys: readonly CryptoAttribute[];
    readonly direction: MediaDirection;
    /** The formats that the peer may send after our offer. */
    readonly received: readonly Format[];
  },
): Agreement {
  const audio = streams[0]?.audio;
  if (!audio) throw streams[0]?.error ?? unusable('it refuses the audio', WARNING.mediaType);
  const wanted = offered.codecs.map((name) => OFFERED[name]);
  const codec = audio.formats.find((format) => wanted.some((one) => isSame(one, format)));
  if (!codec) throw unusable(`it has none of our codecs (${offered.codecs.join(', ')})`, WARNING.mediaFormat);
  const remote = audio.cryptos[0];
  const local = remote && offered.keys.find(({ tag, suite }) => tag === remote.tag && suite === remote.suite);
  if (offered.srtp === 'required' && !local) throw unusable('it does not agree to SRTP');
  if (audio.isSecure && !local) throw unusable('it names a key that does not belong to our offer');
  const keys = local && remote ? { local, remote } : undefined;
  const { codecs } = offered;
  const direction = meet(offered.direction, audio.direction);
  const received = united(offered.received, usableFormats(audio.formats, codecs));
  return agreement({ audio, codec, keys, direction, codecs, received });
}

/**
 * The agreement of our answer.
 *
 * @param localKey - Our key, when the stream is encrypted.
 * @param codecs - The trunk's codecs. The answer names one; the others in the offer are decoded too.
 * @param received - The formats that the peer may send after earlier offers and answers.
 */
export function agreementOf(
  choice: Choice,
  localKey: CryptoAttribute | undefined,
  codecs: readonly TrunkCodec[],
  received: readonly Format[],
): Agreement {
  const { audio, codec, remoteKey } = choice;
  const keys = localKey && remoteKey ? { local: localKey, remote: remoteKey } : undefined;
  const direction = reverse(audio.direction);
  const now = usableFormats(audio.formats, codecs);
  return agreement({ audio, codec, keys, direction, codecs, received: united(now, received) });
}

/** The direction as seen by the other side. @see RFC 3264 section 6.1 */
export function reverse(direction: MediaDirection): MediaDirection {
  if (direction === 'sendonly') return 'recvonly';
  return direction === 'recvonly' ? 'sendonly' : direction;
}

function agreement(agreed: {
  readonly audio: RemoteAudio;
  readonly codec: Format;
  readonly codecs: readonly TrunkCodec[];
  readonly received: readonly Format[];
  readonly keys: MediaParameters['srtp'];
  readonly direction: MediaDirection;
}): Agreement {
  const { audio, codec, codecs, received, keys, direction } = agreed;
  const [sent = codec] = usableFormats([codec], codecs);
  return {
    parameters: {
      remote: { address: audio.address, port: audio.port, rtcpPort: audio.rtcpPort },
      codec: sent,
      dtmf: eventsFor(sent, audio.formats),
      received,
      packetDurationMs: 20,
      direction: audio.isZero ? withoutSending(direction) : direction,
      srtp: keys,
    },
    isHeld: audio.isZero || audio.direction === 'sendonly' || audio.direction === 'inactive',
  };
}

/**
 * Numbers that were agreed stay valid; those of the first list take precedence.
 *
 * @see RFC 3264 sections 6.1 and 8.3.2
 */
export function united(first: readonly Format[], second: readonly Format[]): Format[] {
  const isNew = ({ payloadType }: Format) => !first.some((one) => one.payloadType === payloadType);
  return [...first, ...second.filter(isNew)];
}

function withoutSending(direction: MediaDirection): MediaDirection {
  return direction === 'sendrecv' || direction === 'recvonly' ? 'recvonly' : 'inactive';
}

/** The direction common to our offer and the peer's answer. */
function meet(ours: MediaDirection, theirs: MediaDirection): MediaDirection {
  const other = reverse(theirs);
  const sends = sending(ours) && sending(other);
  const receives = receiving(ours) && receiving(other);
  if (sends) return receives ? 'sendrecv' : 'sendonly';
  return receives ? 'recvonly' : 'inactive';
}

function sending(direction: MediaDirection): boolean {
  return direction === 'sendrecv' || direction === 'sendonly';
}

function receiving(direction: MediaDirection): boolean {
  return direction === 'sendrecv' || direction === 'recvonly';
}

function firstCommon(codecs: readonly TrunkCodec[], formats: readonly Format[]): Format | undefined {
  for (const name of codecs) {
    const found = formats.find((format) => isSame(OFFERED[name], format));
    if (found) return found;
  }
  return undefined;
}

function unusableOffer(
  streams: readonly RemoteStream[],
  codecs: readonly TrunkCodec[],
  srtp: SrtpMode,
): Error {
  const audios = streams.flatMap(({ audio }) => (audio ? [audio] : []));
  if (audios.length === 0) {
    const error = streams.find((stream) => stream.error)?.error;
    return error ?? unusable('it offers no audio over RTP', WARNING.mediaType);
  }
  if (!audios.some(({ formats }) => firstCommon(codecs, formats))) {
    return unusable(`it offers none of the trunk’s codecs (${codecs.join(', ')})`, WARNING.mediaFormat);
  }
  return unusable(
    srtp === 'off' ? 'it wants SRTP, which the trunk has off' : 'it offers no SRTP that the trunk can use',
    WARNING.transportProtocol,
  );
}
