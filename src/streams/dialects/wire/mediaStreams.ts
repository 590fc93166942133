import type { CallCommand, StreamTarget } from '../../../media/agentStream/streamClient.ts';
import type { AgentReader, StreamMessage, StreamStart } from '../dialect.ts';
import { digitsOf, type Fields, fieldsOf, nameOf, numberOf, parseJson, textsOf } from './json.ts';

/** Reported where Twilio names its customer's account. */
const ACCOUNT = 'callway';

export interface MediaFormat {
  readonly encoding: string;
  readonly sampleRateHz: number;
}

/** The start message of a dialect of Twilio's family, in camel or snake case. @returns Undefined for another message. */
export function readStart(message: StreamMessage): (StreamStart & MediaFormat) | undefined {
  const fields = parseJson(message);
  const start = fieldsOf(fields?.start);
  if (fields?.event !== 'start' || start === undefined) return undefined;
  const streamId = nameOf(start.streamSid ?? start.stream_sid ?? fields.streamSid ?? fields.stream_id);
  if (streamId === undefined) return undefined;
  const format = fieldsOf(start.mediaFormat ?? start.media_format);
  return {
    streamId,
    encoding: typeof format?.encoding === 'string' ? format.encoding : 'audio/x-mulaw',
    sampleRateHz: numberOf(format?.sampleRate ?? format?.sample_rate) ?? 8000,
    customParameters: textsOf(fieldsOf(start.customParameters ?? start.custom_parameters)),
  };
}

/** Reads the agent's messages that all dialects of the family have. @returns False for any other message. */
export function readAgentMessage(message: Fields | undefined, agent: AgentReader): boolean {
  if (message?.event === 'clear') {
    agent.clear();
    return true;
  }
  if (message?.event === 'mark') {
    const name = nameOf(fieldsOf(message.mark)?.name);
    if (name !== undefined) agent.mark(name);
    return name !== undefined;
  }
  const command = readCommand(message);
  if (command !== undefined) agent.command(command);
  return command !== undefined;
}

function readCommand(message: Fields | undefined): CallCommand | undefined {
  if (message?.event === 'hangup') {
    const isFailure = fieldsOf(message.hangup)?.reason === 'error';
    return { kind: 'hangup', ...(isFailure ? { reason: 'error' } : {}) };
  }
  if (message?.event === 'transfer') {
    return readTransfer(fieldsOf(message.transfer) ?? {});
  }
  if (message?.event === 'dtmf') {
    const digits = readDigits(message);
    return digits === undefined ? undefined : { kind: 'send_dtmf', digits };
  }
  return undefined;
}

function readTransfer({ to: given, ...options }: Fields): CallCommand | undefined {
  const to = nameOf(given ?? (Array.isArray(options.targets) ? options.targets[0] : undefined));
  if (to === undefined) return undefined;
  return { kind: 'transfer', to, ...(Object.keys(options).length === 0 ? {} : { options }) };
}

/** A gateway sends one `digit`, an agent may send several `digits`. */
export function readDigits(message: Fields): string | undefined {
  const dtmf = fieldsOf(message.dtmf);
  return digitsOf(dtmf?.digits ?? dtmf?.digit);
}

/**
 * Writes a gateway's control messages, numbered from `start` on.
 *
 * @see https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
export class GatewayMessages {
  readonly #target: StreamTarget;
  readonly #send: (text: string) => void;
  #sequenceNumber = 0;

  constructor(target: StreamTarget, send: (text: string) => void) {
    this.#target = target;
    this.#send = send;
  }

  start({ encoding, sampleRateHz }: MediaFormat): void {
    const { streamId, callId, customParameters } = this.#target;
    this.#send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
    this.write('start', {
      start: {
        streamSid: streamId,
        accountSid: ACCOUNT,
        callSid: callId,
        tracks: ['inbound'],
        customParameters,
        mediaFormat: { encoding, sampleRate: sampleRateHz, channels: 1 },
      },
    });
  }

  dtmf(digit: string): void {
    this.write('dtmf', { dtmf: { track: 'inbound_track', digit } });
  }

  stop(): void {
    this.write('stop', { stop: { accountSid: ACCOUNT, callSid: this.#target.callId } });
  }

  write(event: string, fields: object): void {
    const sequenceNumber = this.nextSequenceNumber();
    this.#send(JSON.stringify({ event, sequenceNumber, streamSid: this.#target.streamId, ...fields }));
  }

  nextSequenceNumber(): string {
    this.#sequenceNumber++;
    return String(this.#sequenceNumber);
  }
}
