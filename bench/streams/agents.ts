/** The measured process: serves streams of every dialect, with a talkative agent, and answers each message with its figures. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { WebSocketServer } from 'ws';

import { systemClock } from '../../src/base/clock.ts';
import type { SpeechToText } from '../../src/providers/ports/speechToText.ts';
import { createWebrtcVad } from '../../src/providers/vad/webrtc.ts';
import { acceptStream } from '../../src/streams/acceptStream.ts';
import { chooseSubprotocol, dialectName } from '../../src/streams/dialects/index.ts';
import type { StreamSocket } from '../../src/streams/transport/streamSocket.ts';
import { TcpSocket } from '../../src/streams/transport/tcpSocket.ts';
import { createSpeechCache, SpeechSynthesis } from '../../src/voice/speech/speechSynthesis.ts';
import { VoiceSession } from '../../src/voice/voiceSession.ts';
import { memoryEngine, PROJECT } from '../../test/support/memoryEngine.ts';
import { scriptedModel } from '../../test/support/scriptedModel.ts';
import { scriptedVoice } from '../../test/voice/support/scriptedSpeech.ts';

export interface AgentsFigures {
  readonly port: number;
  readonly tcpPort: number;
  readonly sessions: number;
  /** CPU time since the process started. */
  readonly cpuUs: number;
}

/** Two minutes: longer than a measurement. */
const LONG_ANSWER = 'We have rooms with a view of the garden. '.repeat(50);
const PATHWAY = {
  nodes: [{ id: 'start', type: 'start' as const, data: { title: 'Talk', prompt: 'Talk.' } }],
  edges: [],
};
const deaf: SpeechToText = {
  name: 'none',
  openStream: () => ({ push: () => undefined, finalize: async () => ({ text: '' }), close: () => undefined }),
  close: async () => undefined,
};
const ignore = () => undefined;

let opened = 0;
let sessions = 0;
const voiceActivity = await createWebrtcVad();
const cache = createSpeechCache();
const textToSpeech = scriptedVoice();
const server = new WebSocketServer({
  host: '127.0.0.1',
  port: 0,
  perMessageDeflate: false,
  handleProtocols: chooseSubprotocol,
});
server.on('connection', (socket, { url = '' }) => void serve(socket, url.slice(1)));
const tcp = createServer(
  (socket) => void serve(new TcpSocket(socket, Buffer.alloc(0), () => performance.now()), 'audiosocket'),
);
tcp.listen(0, '127.0.0.1');
await Promise.all([once(server, 'listening'), once(tcp, 'listening')]);
process.on('message', () => report());
process.on('disconnect', () => process.exit());
report();

function report(): void {
  const { user, system } = process.cpuUsage();
  const [port, tcpPort] = [server, tcp].map((one) => (one.address() as AddressInfo).port);
  process.send?.({ port, tcpPort, sessions, cpuUs: user + system });
}

async function serve(socket: StreamSocket, dialect: string): Promise<void> {
  const sessionId = `s${++opened}`;
  const grant = { projectId: PROJECT, sessionId, dialect: dialectName.parse(dialect) };
  const stream = await acceptStream(socket, grant, { clock: systemClock, onListenerError: ignore });
  if (!stream) return;
  const { engine } = memoryEngine({ model: scriptedModel(() => ({ text: LONG_ANSWER })), pathway: PATHWAY });
  const speech = { textToSpeech, cache, clock: systemClock, onFailure: ignore };
  const deps = {
    stream,
    engine,
    historyStore: {
      addEvents: async () => undefined,
      addMessages: async () => undefined,
      addHeard: async () => undefined,
    },
    speechToText: deaf,
    synthesis: new SpeechSynthesis(speech, stream.info.sampleRateHz),
    voiceActivity,
    clock: systemClock,
    onError: ignore,
  };
  sessions++;
  await new VoiceSession(deps, { session: { projectId: PROJECT, sessionId, channel: 'web' } }).run();
  sessions--;
}
