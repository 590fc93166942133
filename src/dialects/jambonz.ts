import { writePcm16 } from '../media/pcm16.ts';
import type {
  AgentReader,
  ClientDialect,
  ClientRequest,
  DialectClient,
  DialectConnection,
  StreamMessage,
} from './dialect.ts';
import { APPLICATION_SUBPROTOCOL } from './jambonzVerbs.ts';
import { AudioForkServer, readAudio } from './wire/audioFork.ts';
import { oddBytes } from './wire/botRules.ts';
import { type Fields, fieldsOf, nameOf, parseJson } from './wire/json.ts';

/** RTP ticks of a digit: jambonz gives the length in samples at 8 kHz. */
const TICKS_PER_MS = 8;

/**
 * The `listen` and `stream` verbs of jambonz with `bidirectionalAudio.streaming`.
 *
 * @see https://docs.jambonz.org/verbs/verbs/listen for the verb
 * @see https://github.com/jambonz/jambonz-feature-server/blob/main/lib/tasks/listen.js for the metadata, `dtmf` and
 *   `disconnect`
 */
export const jambonz: ClientDialect = {
  subprotocols: ['audio.jambonz.org', 'audio.drachtio.org', APPLICATION_SUBPROTOCOL],
  description:
    ' (subprotocol `audio.jambonz.org` or `audio.drachtio.org`): the verbs `listen` and `stream` of jambonz with `bidirectionalAudio` streaming at the rate of the verb, audio both ways as binary messages of little-endian L16. The texts of the first message are custom parameters. With the subprotocol `ws.jambonz.org` the address is that of a jambonz application: it is answered with `answer` and a `listen` to a second address, and the agent hangs up, transfers (`dial`, or `sip:refer` for the mode `refer`) and sends digits by commands.',
  openServer: (connection) => new AudioForkServer(connection, { needsMetadata: true }),
  openClient,
  botRules: { problemOf: oddBytes },
};

function openClient(connection: DialectConnection, { target, sampleRateHz }: ClientRequest): DialectClient {
  const send = (message: object) => connection.send(JSON.stringify(message));
  const { fromNumber: from, toNumber: to, direction } = target.customParameters;
  send({
    ...target.customParameters,
    sampleRate: sampleRateHz,
    mixType: 'mono',
    call_sid: target.callId,
    ...{ from, to, direction },
  });
  return {
    sampleRateHz,
    agentClosesAfterStop: false,
    // The frame is the caller's; the message is the connection's.
    audio: (samples) => connection.send(writePcm16(samples.slice())),
    dtmf: (digit, durationMs) => send({ event: 'dtmf', dtmf: digit, duration: durationMs * TICKS_PER_MS }),
    mark({ name, outcome }) {
      send({ type: 'mark', data: { name, event: outcome === 'played' ? 'playout' : 'cleared' } });
    },
    read: readBot,
    stop: () => undefined,
  };
}

function readBot(message: StreamMessage, agent: AgentReader): void {
  if (typeof message !== 'string') readAudio(message, agent);
  else if (!readCommand(parseJson(message), agent)) agent.malformed();
}

function readCommand(message: Fields | undefined, agent: AgentReader): boolean {
  switch (message?.type) {
    case 'killAudio':
      agent.clear();
      return true;
    case 'disconnect':
      agent.command({ kind: 'hangup' });
      return true;
    case 'mark': {
      const name = nameOf(fieldsOf(message.data)?.name);
      if (name !== undefined) agent.mark(name);
      return name !== undefined;
    }
    default:
      return false;
  }
}
