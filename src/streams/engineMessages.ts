import type { FailoverPrompts } from '../media/agentStream/failoverPlayer.ts';
import type { CallCommand, StreamDialect } from '../media/mediaSession.ts';
import { writeL16 } from './dialects/wire/pcm16.ts';

/** Writes what the engine's side says, as text frames. */
export interface EngineMessages {
  /** Twilio's dialect only. */
  media(muLaw: Uint8Array): string;
  mark(name: string): string;
  clear(): string;
  /** @returns Undefined where the dialect has no word for it. */
  command(command: CallCommand): string | undefined;
  /** @returns Undefined in Twilio's dialect. */
  standby(words: FailoverPrompts): string | undefined;
}

/** @see https://www.twilio.com/docs/voice/media-streams/websocket-messages */
export function createEngineMessages(streamSid: string, dialect: StreamDialect): EngineMessages {
  const message = (event: string, fields: object = {}) => JSON.stringify({ event, streamSid, ...fields });
  return {
    media: (muLaw) => message('media', { media: { payload: base64Of(muLaw) } }),
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
    standby({ waiting, apology }) {
      if (dialect === 'twilio') return undefined;
      const [waitingText, apologyText] = [base64Of(writeL16(waiting)), base64Of(writeL16(apology))];
      return message('standby', { standby: { waiting: waitingText, apology: apologyText } });
    },
  };
}

function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
