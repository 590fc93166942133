import {
  type AgentMessages,
  agentControl,
  type CallCommand,
  type MarkReport,
  type TransferStatus,
} from '../media/agentStream/streamClient.ts';
import { readPcm16, writePcm16 } from '../media/pcm16.ts';
import { isSampleRate, SAMPLE_RATES_HZ } from '../media/resample/resampler.ts';
import type {
  AgentReader,
  ClientDialect,
  ClientRequest,
  DialectClient,
  DialectConnection,
  DialectServer,
  GatewayMessageHandler,
} from './dialect.ts';
import { readAudio } from './wire/audioFork.ts';
import { oddBytes } from './wire/botRules.ts';
import { type Fields, fieldsOf, nameOf, parseJson, positionOf, toBase64 } from './wire/json.ts';
import { GatewayMessages, readAgentMessage, readDigits, readStart } from './wire/mediaStreams.ts';

/** Little-endian, as WebSocket clients expect it; L16 in RTP is big-endian. */
const ENCODING = 'audio/l16;endianness=little';

/** Our own dialect: the control messages of Twilio Media Streams and some more as text, the audio as binary L16. */
export const callway: ClientDialect = {
  subprotocols: ['audio.callway.v1'],
  description: `(subprotocol \`audio.callway.v1\`): the control messages of Twilio Media Streams as text, and the audio both ways as binary frames of 16-bit little-endian samples, mono, at \`start.mediaFormat.sampleRate\` (8000, 16000, 24000 or 48000). \`mark\` answers carry \`outcome\` (\`played\` or \`cleared\`) and \`position\` (\`playedSamples\`, \`receivedSamples\`, \`bufferDelayMs\`); \`clear\` is answered by \`cleared\` with a \`position\`. \`hold\` \`{isHeld}\` reports that the caller does not hear the agent; audio sent meanwhile waits. The agent can send \`hangup\` (with \`hangup.reason\` \`error\` when it has failed, \`not_understood\` when it did not understand the caller), \`transfer\` \`{to}\`, with the options of a transfer in the API, and \`dtmf\` \`{digits}\`. The progress of a transfer is reported as \`transfer_status\`: \`transfer.status\` is \`begun\`; of a warm one \`waiting\` when it takes long and \`answered\` when the target is told about the call; then \`failed\` with a \`reason\` and an \`outcome\` when the agent has the caller again; a transfer that succeeds ends the stream. \`control\` reports what supervisors do: \`control.kind\` is \`pause\` with \`isPaused\`, or \`takeover\` with \`isTakenOver\`; what the agent says meanwhile is not heard, and during a takeover it hears silence. With \`captions\` in the request that opened the stream, \`caption\` tells what is said: \`caption.speaker\` (\`caller\` or \`agent\`), \`text\` so far, in step with the audio, and \`isFinal\`.`,
  openServer,
  openClient,
  botRules: { problemOf: oddBytes },
};

function openServer(connection: DialectConnection): DialectServer {
  let streamSid = '';
  const send = (event: string, fields: object = {}) =>
    connection.send(JSON.stringify({ event, streamSid, ...fields }));
  return {
    confirmsClear: true,
    readStart(message) {
      const start = readStart(parseJson(message));
      if (start === undefined) return undefined;
      if (!isSampleRate(start.sampleRateHz)) {
        return `the sample rate must be one of ${SAMPLE_RATES_HZ.join(', ')}`;
      }
      streamSid = start.streamId;
      return start;
    },
    read(message, gateway) {
      if (typeof message === 'string') readGatewayMessage(parseJson(message), gateway);
      else readAudio(message, gateway);
    },
    play: (samples) => connection.send(writePcm16(samples)),
    mark: (name) => send('mark', { mark: { name } }),
    clear: () => send('clear'),
    command: (command) => send(...commandMessage(command)),
    caption: (caption) => send('caption', { caption }),
    setFailoverPrompts: ({ waiting, apology }) =>
      send('standby', {
        standby: { waiting: toBase64(writePcm16(waiting)), apology: toBase64(writePcm16(apology)) },
      }),
  };
}

function openClient(
  connection: DialectConnection,
  { target, sampleRateHz, channels }: ClientRequest,
): DialectClient {
  const messages = new GatewayMessages(target);
  const send = (message: object) => connection.send(JSON.stringify(message));
  const write = (event: string, fields: object) => send(messages.message(event, fields));
  for (const message of messages.opening({ encoding: ENCODING, sampleRateHz, channels })) send(message);
  const toAgent: AgentMessages = {
    // The frame is the caller's; the message is the connection's.
    audio: (samples) => connection.send(writePcm16(samples.slice())),
    dtmf: (digit) => send(messages.dtmf(digit)),
    mark: ({ name, outcome, ...position }) => write('mark', { mark: { name, outcome, position } }),
    cleared: (position) => write('cleared', { position }),
    hold: (isHeld) => write('hold', { hold: { isHeld } }),
    tell: ({ kind, ...message }) =>
      kind === 'transfer'
        ? write('transfer_status', { transfer: message })
        : write('control', { control: { kind, ...message } }),
  };
  return {
    ...toAgent,
    sampleRateHz,
    agentClosesAfterStop: true,
    read(message, agent) {
      if (typeof message !== 'string') return readAudio(message, agent);
      const fields = parseJson(message);
      // A user's agent is never replaced, so that its prompts would never be played.
      const isRead = target.isInternal && readInternalMessage(fields, agent);
      if (!isRead && !readAgentMessage(fields, agent)) agent.malformed();
    },
    stop: () => send(messages.stop()),
  };
}

function readGatewayMessage(message: Fields | undefined, gateway: GatewayMessageHandler): void {
  if (message === undefined || !readKnownMessage(message, gateway)) gateway.malformed();
}

function readKnownMessage(message: Fields, gateway: GatewayMessageHandler): boolean {
  switch (message.event) {
    case 'connected':
    case 'start':
      return true;
    case 'stop':
      gateway.stopped();
      return true;
    case 'dtmf': {
      const digits = readDigits(message);
      for (const digit of digits ?? '') gateway.dtmf(digit);
      return digits !== undefined;
    }
    case 'hold': {
      const isHeld = fieldsOf(message.hold)?.isHeld;
      if (typeof isHeld === 'boolean') gateway.hold(isHeld);
      return typeof isHeld === 'boolean';
    }
    case 'mark':
      return readMark(fieldsOf(message.mark), gateway);
    case 'cleared': {
      const position = positionOf(fieldsOf(message.position));
      if (position !== undefined) gateway.cleared(position);
      return position !== undefined;
    }
    case 'transfer_status': {
      const status = readTransferStatus(fieldsOf(message.transfer));
      if (status !== undefined) gateway.transferStatus(status);
      return status !== undefined;
    }
    case 'control': {
      const { data: control } = agentControl.safeParse(message.control);
      if (control !== undefined) gateway.control(control);
      return control !== undefined;
    }
    default:
      return false;
  }
}

function readMark(mark: Fields | undefined, gateway: GatewayMessageHandler): boolean {
  const name = nameOf(mark?.name);
  if (name === undefined) return false;
  const outcome: MarkReport['outcome'] | undefined =
    mark?.outcome === 'played' || mark?.outcome === 'cleared' ? mark.outcome : undefined;
  const position = positionOf(fieldsOf(mark?.position));
  gateway.mark(name, { outcome, position });
  return true;
}

function readTransferStatus(transfer: Fields | undefined): TransferStatus | undefined {
  const to = nameOf(transfer?.to);
  if (to === undefined) return undefined;
  const { status } = transfer ?? {};
  if (status === 'begun' || status === 'waiting' || status === 'answered') return { status, to };
  const reason = nameOf(transfer?.reason);
  const outcome = nameOf(transfer?.outcome);
  if (status !== 'failed' || reason === undefined) return undefined;
  return { status, to, reason, outcome };
}

/** What only our own voice nodes send. */
function readInternalMessage(message: Fields | undefined, agent: AgentReader): boolean {
  if (message?.event === 'standby') return readFailoverPrompts(message, agent);
  if (message?.event === 'said') {
    const number = fieldsOf(message.said)?.number;
    if (typeof number === 'number') agent.command({ kind: 'said', number });
    return typeof number === 'number';
  }
  if (message?.event === 'message_began') {
    agent.command({ kind: 'message_began' });
    return true;
  }
  if (message?.event === 'disclosed') {
    const { id: name, messageMs } = fieldsOf(message.disclosed) ?? {};
    const id = nameOf(name);
    if (id !== undefined)
      agent.command({
        kind: 'disclosed',
        id,
        messageMs: typeof messageMs === 'number' ? messageMs : undefined,
      });
    return id !== undefined;
  }
  if (message?.event !== 'briefing') return false;
  const { outcome } = fieldsOf(message.briefing) ?? {};
  if (outcome !== 'told' && outcome !== 'accepted' && outcome !== 'refused') return false;
  agent.command({ kind: 'briefing', outcome });
  return true;
}

function readFailoverPrompts(message: Fields, agent: AgentReader): boolean {
  const { waiting, apology } = fieldsOf(message.standby) ?? {};
  if (typeof waiting !== 'string' || typeof apology !== 'string') return false;
  agent.failoverPrompts({ waiting: fromBase64(waiting), apology: fromBase64(apology) });
  return true;
}

function fromBase64(text: string): Int16Array {
  return readPcm16(Buffer.from(text, 'base64'));
}

function commandMessage(command: CallCommand): [event: string, fields?: object] {
  switch (command.kind) {
    case 'hangup':
      return command.reason ? ['hangup', { hangup: { reason: command.reason } }] : ['hangup'];
    case 'transfer':
      return ['transfer', { transfer: { to: command.to, ...command.options } }];
    case 'briefing':
      return ['briefing', { briefing: { outcome: command.outcome } }];
    case 'said':
      return ['said', { said: { number: command.number } }];
    case 'message_began':
      return ['message_began'];
    case 'disclosed':
      return ['disclosed', { disclosed: { id: command.id, messageMs: command.messageMs } }];
    case 'send_dtmf':
      return ['dtmf', { dtmf: { digits: command.digits } }];
  }
}
