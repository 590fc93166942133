import type {
  AgentReader,
  ClientDialect,
  DialectConnection,
  GatewayMessageHandler,
  StreamDialect,
  StreamMessage,
} from '../../../src/dialects/dialect.ts';
import type { StreamTarget } from '../../../src/media/agentStream/streamClient.ts';
import type { SampleRateHz } from '../../../src/media/resample/resampler.ts';

const parsed = (text: string): unknown => (text.startsWith('{') ? JSON.parse(text) : text);

/** What a dialect sends: JSON parsed, bytes as numbers. */
function recordConnection() {
  const sent: unknown[] = [];
  const closes: string[] = [];
  const connection: DialectConnection = {
    send: (message) => sent.push(typeof message === 'string' ? parsed(message) : [...message]),
    close: (reason) => closes.push(reason),
  };
  return { connection, sent, closes };
}

const toMessage = (message: object | string): StreamMessage =>
  typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message);

/** Our agent's end, with the messages that it reads as a list of calls. */
export function openServer(dialect: StreamDialect, start: object) {
  const { connection, sent, closes } = recordConnection();
  const server = dialect.openServer(connection);
  const calls: unknown[] = [];
  const gateway: GatewayMessageHandler = {
    audio: (samples) => calls.push(['audio', ...samples]),
    dtmf: (digit) => calls.push(['dtmf', digit]),
    mark: (name, report) => calls.push(['mark', name, report]),
    cleared: (position) => calls.push(['cleared', position]),
    hold: (isHeld) => calls.push(['hold', isHeld]),
    transferStatus: (status) => calls.push(['transferStatus', status]),
    control: (control) => calls.push(['control', control]),
    request: (request) => calls.push(['request', request]),
    stopped: () => calls.push(['stopped']),
    malformed: () => calls.push(['malformed']),
  };
  server.readStart(toMessage(start));
  return {
    server,
    sent,
    closes,
    read(...messages: (object | string)[]) {
      calls.length = 0;
      for (const message of messages) server.read(toMessage(message), gateway);
      return [...calls];
    },
  };
}

const TARGET: StreamTarget = {
  url: 'wss://agent.example/',
  dialect: 'callway',
  streamId: 'MZ1',
  callId: 'CA1',
  customParameters: { name: 'Ada' },
  canReconnect: false,
};

/** Our gateway's end, with the messages that it reads as a list of calls. */
export function openClient(
  dialect: StreamDialect,
  sampleRateHz: SampleRateHz,
  target: Partial<StreamTarget> = {},
) {
  const { connection, sent } = recordConnection();
  const client = (dialect as ClientDialect).openClient(connection, {
    target: { ...TARGET, ...target },
    sampleRateHz,
  });
  const calls: unknown[] = [];
  const agent: AgentReader = {
    audio: (samples) => calls.push(['audio', ...samples]),
    mark: (name) => calls.push(['mark', name]),
    clear: () => calls.push(['clear']),
    command: (command) => calls.push(['command', command]),
    failoverPrompts: ({ waiting, apology }) => calls.push(['failoverPrompts', [...waiting], [...apology]]),
    malformed: () => calls.push(['malformed']),
  };
  return {
    client,
    sent,
    read(...messages: (object | string)[]) {
      calls.length = 0;
      for (const message of messages) client.read(toMessage(message), agent);
      return [...calls];
    },
  };
}
