import type { MediaDescription } from 'sdp-transform';
import type { MediaDirection } from '../../media/mediaSession.ts';
import {
  type CryptoAttribute,
  MASTER_KEY_BYTES,
  MASTER_SALT_BYTES,
  SRTP_SUITES,
  type SrtpSuite,
} from '../../media/srtp/cryptoAttribute.ts';
import {
  comfortNoiseFor,
  type Format,
  keepNumbers,
  OFFERED,
  OFFERED_EVENTS,
  type TrunkCodec,
} from './formats.ts';
import { type ResolveHost, withAddresses } from './hosts.ts';
import {
  type Agreement,
  agreementOf,
  chooseOfOffer,
  readAnswer,
  reverse,
  type SrtpMode,
  united,
} from './negotiate.ts';
import { readStreams } from './read.ts';
import { writeDescription, writeStreams } from './write.ts';

/** The offers and answers of one call. @see RFC 3264 */
export interface SdpSession {
  /** Creates an offer with all codecs of the trunk, in order. */
  offer(): string;
  /** Reads the answer to the last offer. @throws {CallwayError} `sdp_unusable` */
  acceptAnswer(body: string): Promise<Agreement>;
  /** Answers a peer's offer. @throws {CallwayError} `sdp_unusable`; nothing changes. */
  answer(body: string): Promise<Agreement & { readonly body: string }>;
  /** Our last offer or answer; '' before any. */
  readonly current: string;
}

export interface SdpSessionOptions {
  /** The address for received packets. */
  readonly address: string;
  readonly rtpPort: number;
  readonly codecs: readonly TrunkCodec[];
  readonly srtp: SrtpMode;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly resolveHost: ResolveHost;
}

const SUITES = Object.keys(SRTP_SUITES) as SrtpSuite[];

export function createSdpSession(options: SdpSessionOptions): SdpSession {
  const { address, rtpPort, codecs, srtp, randomBytes, resolveHost } = options;
  const sessionId = Buffer.from(randomBytes(4)).readUInt32BE();
  const keys = new Map<SrtpSuite, CryptoAttribute['masterKey']>();
  let version = 0;
  let media = '';
  let current = '';
  let direction: MediaDirection = 'sendrecv';
  /** The formats that the peer may send after all offers and answers so far. */
  let received: readonly Format[] = [];

  const keyOf = (suite: SrtpSuite, tag: number): CryptoAttribute => {
    const masterKey = keys.get(suite) ?? {
      key: randomBytes(MASTER_KEY_BYTES),
      salt: randomBytes(MASTER_SALT_BYTES),
    };
    keys.set(suite, masterKey);
    return { tag, suite, masterKey };
  };
  const read = (body: string) => withAddresses(readStreams(body), address, resolveHost);
  const offeredKeys = () => (srtp === 'off' ? [] : SUITES.map((suite, at) => keyOf(suite, at + 1)));
  const describe = (streams: MediaDescription[]): string => {
    const text = JSON.stringify(streams);
    if (text !== media) version += 1;
    media = text;
    current = writeDescription({ sessionId, version, address }, streams);
    return current;
  };

  return {
    get current() {
      return current;
    },
    offer() {
      direction = 'sendrecv';
      const formats = codecs.map((name) => OFFERED[name]);
      const events = OFFERED_EVENTS.filter((one) =>
        formats.some(({ rtpClockRateHz }) => rtpClockRateHz === one.rtpClockRateHz),
      );
      const offered = keepNumbers([...formats, ...events], received);
      received = united(offered, received);
      const audio = {
        port: rtpPort,
        protocol: srtp === 'required' ? 'RTP/SAVP' : 'RTP/AVP',
        formats: offered,
        direction,
        hasRtcpMux: true,
        cryptos: offeredKeys(),
      };
      return describe(writeStreams(address, [audio]));
    },
    async acceptAnswer(body) {
      const streams = await read(body);
      const agreement = readAnswer(streams, { codecs, srtp, keys: offeredKeys(), direction, received });
      received = agreement.parameters.received;
      return agreement;
    },
    async answer(body) {
      const streams = await read(body);
      const choice = chooseOfOffer(streams, codecs, srtp);
      const { audio, codec, remoteKey } = choice;
      const localKey = remoteKey && keyOf(remoteKey.suite, remoteKey.tag);
      const agreement = agreementOf(choice, localKey, codecs, received);
      received = agreement.parameters.received;
      direction = reverse(audio.direction);
      const { parameters } = agreement;
      const extras = [parameters.dtmf, comfortNoiseFor(parameters.codec, audio.formats)];
      const own = {
        port: rtpPort,
        protocol: streams[choice.index]?.protocol ?? 'RTP/AVP',
        formats: [codec, ...extras.flatMap((format) => (format ? [format] : []))],
        direction,
        hasRtcpMux: audio.hasRtcpMux,
        cryptos: localKey ? [localKey] : [],
      };
      const answered = streams.map((stream, index) => (index === choice.index ? own : stream));
      return { ...agreement, body: describe(writeStreams(address, answered)) };
    },
  };
}
