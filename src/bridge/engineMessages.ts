import type { EngineCommand, StreamDialect } from '../media/mediaSession.ts';

/** Writes what the engine's side says, as text frames. */
export interface EngineMessages {
  /** Twilio's dialect only. */
  media(muLaw: Uint8Array): string;
  mark(name: string): string;
  clear(): string;
  /** @returns Undefined where the dialect has no word for it. */
  command(command: EngineCommand): string | undefined;
}

/** @see https://www.twilio.com/docs/voice/media-streams/websocket-messages */
export function createEngineMessages(streamSid: string, dialect: StreamDialect): EngineMessages {
  const message = (event: string, fields: object = {}) => JSON.stringify({ event, streamSid, ...fields });
  return {
    media(muLaw) {
      const bytes = Buffer.from(muLaw.buffer, muLaw.byteOffset, muLaw.byteLength);
      return message('media', { media: { payload: bytes.toString('base64') } });
    },
    mark: (name) => message('mark', { mark: { name } }),
    clear: () => message('clear'),
    command(command) {
      if (dialect === 'twilio') return undefined;
      switch (command.kind) {
        case 'hangup':
          return message('hangup');
        case 'transfer':
          return message('transfer', { transfer: { to: command.to } });
        case 'send_dtmf':
          return message('dtmf', { dtmf: { digits: command.digits } });
      }
    },
  };
}
