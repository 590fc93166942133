import type { StreamDialect, TransferStatus } from '../media/mediaSession.ts';
import type { MarkReport, PlayoutPosition } from '../voice/audioStream.ts';

/** Encoding names of `start.mediaFormat`. L16 here is little-endian, as every WebSocket bot has it, unlike in RTP. */
export const MU_LAW_ENCODING = 'audio/x-mulaw';
export const L16_ENCODING = 'audio/l16;endianness=little';
/** Shown where Twilio names its customer's account. */
const ACCOUNT = 'callway';

export interface GatewayStart {
  readonly streamId: string;
  readonly callId: string;
  readonly dialect: StreamDialect;
  readonly sampleRateHz: number;
  readonly customParameters: Readonly<Record<string, string>>;
}

/** Writes what the side with the phone says, as text frames; one for each stream, since they are numbered. */
export interface GatewayMessages {
  /** Both, in this order, before all else. */
  connected(): string;
  start(): string;
  /** Twilio's dialect only. @param timestampMs - Of the frame's begin, since the stream's. */
  media(muLaw: Uint8Array, timestampMs: number): string;
  dtmf(digit: string): string;
  /** Nothing in Twilio's dialect, which has no word for it. */
  hold(isHeld: boolean): string | undefined;
  mark(mark: MarkReport): string;
  /** Nothing in Twilio's dialect, whose engines know it from their marks. */
  cleared(position: PlayoutPosition): string | undefined;
  /** Nothing in Twilio's dialect, which has no word for it. */
  transferStatus(progress: TransferStatus): string | undefined;
  stop(): string;
}

/** @see https://www.twilio.com/docs/voice/media-streams/websocket-messages */
export function createGatewayMessages(start: GatewayStart): GatewayMessages {
  const { streamId: streamSid, callId: callSid, dialect, customParameters, sampleRateHz } = start;
  const isTwilio = dialect === 'twilio';
  let sequence = 0;
  let chunk = 0;
  const message = (event: string, fields: object): string => {
    sequence++;
    return JSON.stringify({ event, sequenceNumber: String(sequence), streamSid, ...fields });
  };
  return {
    connected: () => JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }),
    start() {
      const encoding = isTwilio ? MU_LAW_ENCODING : L16_ENCODING;
      const mediaFormat = { encoding, sampleRate: sampleRateHz, channels: 1 };
      const tracks = ['inbound'];
      return message('start', {
        start: { streamSid, accountSid: ACCOUNT, callSid, tracks, customParameters, mediaFormat },
      });
    },
    media(muLaw, timestampMs) {
      chunk++;
      // Base64 needs no escaping, and a frame goes out fifty times a second for every call.
      sequence++;
      const payload = Buffer.from(muLaw.buffer, muLaw.byteOffset, muLaw.byteLength).toString('base64');
      return `{"event":"media","sequenceNumber":"${sequence}","streamSid":${JSON.stringify(streamSid)},"media":{"track":"inbound","chunk":"${chunk}","timestamp":"${Math.round(timestampMs)}","payload":"${payload}"}}`;
    },
    dtmf: (digit) => message('dtmf', { dtmf: { track: 'inbound_track', digit } }),
    hold: (isHeld) => (isTwilio ? undefined : message('hold', { hold: { isHeld } })),
    mark({ name, outcome, ...position }) {
      return message('mark', { mark: isTwilio ? { name } : { name, outcome, position } });
    },
    cleared: (position) => (isTwilio ? undefined : message('cleared', { position })),
    transferStatus: (progress) => (isTwilio ? undefined : message('transfer_status', { transfer: progress })),
    stop: () => message('stop', { stop: { accountSid: ACCOUNT, callSid } }),
  };
}
