import { type CallCommand, HANGUP_REASONS, type StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { AgentReader, StreamStart } from '../dialect.ts';
import { digitsOf, type Fields, fieldsOf, nameOf, numberOf, textsOf } from './json.ts';

/** Reported where Twilio names its customer's account. */
const ACCOUNT = 'callway';

export interface MediaFormat {
  readonly encoding: string;
  readonly sampleRateHz: number;
  /** Default: 1, the caller's. The second is what the caller hears. */
  readonly channels?: number | undefined;
}

/** The start message of a dialect of Twilio's family, in camel or snake case. @returns Undefined for another message. */
export function readStart(
  fields: Fields | undefined,
): (StreamStart & MediaFormat & { readonly streamId: string }) | undefined {
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
    const told = fieldsOf(message.hangup)?.reason;
    return { kind: 'hangup', reason: HANGUP_REASONS.find((one) => one === told) };
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
  return { kind: 'transfer', to, options: Object.keys(options).length === 0 ? undefined : options };
}

/** A gateway sends one `digit`, an agent may send several `digits`. */
export function readDigits(message: Fields): string | undefined {
  const dtmf = fieldsOf(message.dtmf);
  return digitsOf(dtmf?.digits ?? dtmf?.digit);
}

/**
 * A gateway's control messages, numbered from `start` on.
 *
 * @see https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
export class GatewayMessages {
  readonly #target: StreamTarget;
  #sequenceNumber = 0;

  constructor(target: StreamTarget) {
    this.#target = target;
  }

  opening({ encoding, sampleRateHz, channels = 1 }: MediaFormat): readonly object[] {
    const { streamId, callId, customParameters } = this.#target;
    const start = {
      streamSid: streamId,
      accountSid: ACCOUNT,
      callSid: callId,
      tracks: channels === 1 ? ['inbound'] : ['inbound', 'outbound'],
      customParameters,
      mediaFormat: { encoding, sampleRate: sampleRateHz, channels },
    };
    return [{ event: 'connected', protocol: 'Call', version: '1.0.0' }, this.message('start', { start })];
  }

  dtmf(digit: string): object {
    return this.message('dtmf', { dtmf: { track: 'inbound_track', digit } });
  }

  stop(): object {
    return this.message('stop', { stop: { accountSid: ACCOUNT, callSid: this.#target.callId } });
  }

  message(event: string, fields: object): object {
    const sequenceNumber = this.nextSequenceNumber();
    return { event, sequenceNumber, streamSid: this.#target.streamId, ...fields };
  }

  nextSequenceNumber(): string {
    this.#sequenceNumber++;
    return String(this.#sequenceNumber);
  }
}
