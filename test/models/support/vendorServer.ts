import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { tone } from '../../media/support/signals.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';
import { SCRIPTED_VENDORS, WORD_SAMPLES } from '../synthesis/support/scriptedVendors.ts';
import { RECOGNITION_VENDORS, type RecognitionVendor } from './recognitionVendors.ts';

/** What every recognizer here hears, whatever is said. */
export const HEARD = 'hello there';
/** A caller who is silent this long has finished. */
const END_MS = 260;
const LOUD = 500;
const SYNTHESIS_RATE_HZ = 24_000;
const ANSWER = 'You are welcome, goodbye for now.';
const WORD = tone(SYNTHESIS_RATE_HZ, 1000, WORD_SAMPLES);
const OPENAI_SPEECH = tone(SYNTHESIS_RATE_HZ, 1000, SYNTHESIS_RATE_HZ);

/** Every speech vendor, at one address. */
export interface VendorServer {
  readonly url: string;
  /** Paths of the requests that had the key. */
  readonly authorized: string[];
  close(): Promise<void>;
}

/** Vendors by their published protocols: they hear two words in each turn, and speak a tone for each word. */
export async function serveVendors(key: string): Promise<VendorServer> {
  const authorized: string[] = [];
  const note = (request: IncomingMessage) => {
    if (JSON.stringify(request.headers).includes(key)) authorized.push(request.url ?? '');
  };
  const server = createServer((request, response) => {
    note(request);
    request.resume();
    request.once('end', () => answer(request.url ?? '', response));
  });
  const sockets = new WebSocketServer({ server, handleProtocols: ([first]) => first ?? false });
  sockets.on('connection', (socket, request) => {
    note(request);
    connect(socket, request.url ?? '');
  });
  const { port, close } = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, authorized, close };
}

function answer(path: string, response: ServerResponse): void {
  if (path === '/v1/audio/speech') {
    response.setHeader('content-type', 'audio/pcm');
    response.end(new Uint8Array(OPENAI_SPEECH.buffer));
  } else if (path === '/v1/audio/transcriptions') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ text: HEARD }));
  } else if (path === '/v1/chat/completions') {
    response.setHeader('content-type', 'text/event-stream');
    const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.end(
      `${chunk({ role: 'assistant', content: ANSWER }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`,
    );
  } else response.writeHead(404).end();
}

function connect(socket: WebSocket, path: string): void {
  const model = new URL(path, 'http://vendor').searchParams.get('model') ?? '';
  const recognizer = RECOGNITION_VENDORS.find((one) => path.startsWith(one.path));
  if (path.startsWith('/v1/realtime?model=')) converse(socket);
  else if (path.startsWith('/ws/google.')) converseLive(socket);
  else if (socket.protocol.startsWith('stt')) hear(socket, CUSTOM);
  else if (socket.protocol.startsWith('tts')) speakCustom(socket);
  else if (recognizer) hear(socket, recognizer);
  else if (path.startsWith('/v1/speak')) speak(socket, 'deepgram');
  else if (path.startsWith('/tts/')) speak(socket, 'cartesia');
  else if (path.startsWith('/v1/text-to-speech/')) speak(socket, 'elevenlabs');
  else socket.close(1008, `no vendor at ${path} ${model}`);
}

type Hearing = Pick<RecognitionVendor, 'greeting' | 'turn' | 'isAudio' | 'finalize'>;

const CUSTOM: Hearing = {
  greeting: [],
  turn: [
    { type: 'partial', text: 'hello' },
    { type: 'final', text: HEARD },
    { type: 'end_of_turn', eager: false },
  ],
  finalize: { message: { type: 'stop' }, answers: [{ type: 'final', text: HEARD }], text: HEARD },
};

/** The first words come with the first sound, all others with the silence after the last one. */
function hear(socket: WebSocket, { greeting, turn, isAudio, finalize }: Hearing): void {
  let hasBegun = false;
  let end: NodeJS.Timeout | undefined;
  const tell = (message: unknown) => socket.send(JSON.stringify(message));
  const finish = () => {
    for (const message of turn.slice(1)) tell(message);
    hasBegun = false;
  };
  const onAudio = (samples: Buffer) => {
    if (!isLoud(samples)) return;
    clearTimeout(end);
    if (!hasBegun) tell(turn[0]);
    hasBegun = true;
    end = setTimeout(finish, END_MS);
  };
  for (const message of greeting) tell(message);
  socket.on('message', (data: Buffer, isBinary) => {
    const message = isBinary ? undefined : parsed(data);
    if (isBinary) onAudio(data);
    else if (isAudio?.(message)) onAudio(Buffer.from((message as { audio: string }).audio, 'base64'));
    else if (hasBegun && finalize && JSON.stringify(message) === JSON.stringify(finalize.message)) {
      clearTimeout(end);
      hasBegun = false;
      for (const answer of finalize.answers) tell(answer);
    }
  });
  socket.on('close', () => clearTimeout(end));
}

/** OpenAI's Realtime API: hears the two words in each commit, and says two when it is asked. */
function converse(socket: WebSocket): void {
  const tell = (type: string, fields: object) => socket.send(JSON.stringify({ type, ...fields }));
  let items = 0;
  socket.on('message', (data: Buffer) => {
    const { type, response } = parsed(data) as { type: string; response?: { metadata?: object } };
    items += 1;
    const item_id = `item-${items}`;
    if (type === 'input_audio_buffer.commit') {
      tell('input_audio_buffer.committed', { item_id });
      tell('conversation.item.input_audio_transcription.completed', { item_id, transcript: HEARD });
    }
    if (type !== 'response.create') return;
    const response_id = `response-${items}`;
    tell('response.created', {
      response: { id: response_id, status: 'in_progress', metadata: response?.metadata },
    });
    for (const word of ['Very ', 'well.']) {
      const delta = Buffer.from(WORD.buffer).toString('base64');
      tell('response.output_audio_transcript.delta', { response_id, item_id, delta: word });
      tell('response.output_audio.delta', { response_id, item_id, delta });
    }
    tell('response.done', { response: { id: response_id, status: 'completed' } });
  });
}

/** Google's Live API: says two words in each turn. */
function converseLive(socket: WebSocket): void {
  const tell = (message: object) => socket.send(JSON.stringify(message));
  socket.on('message', (data: Buffer) => {
    const message = parsed(data) as { setup?: unknown; clientContent?: { turnComplete?: boolean } };
    if (message.setup) tell({ setupComplete: {} });
    if (!message.clientContent?.turnComplete) return;
    const inlineData = {
      mimeType: 'audio/pcm;rate=24000',
      data: Buffer.from(WORD.buffer).toString('base64'),
    };
    for (const text of ['Very ', 'well.'])
      tell({ serverContent: { modelTurn: { parts: [{ inlineData }] }, outputTranscription: { text } } });
    tell({ serverContent: { turnComplete: true } });
  });
}

function speak(socket: WebSocket, name: string): void {
  const vendor = SCRIPTED_VENDORS.find((one) => one.name === name);
  vendor?.serve(socket, { onWords: (_id, _words, say) => say(), cancelled: [], sound: WORD });
}

function speakCustom(socket: WebSocket): void {
  const word = Buffer.from(WORD.buffer);
  socket.on('message', (data: Buffer) => {
    const { type, id, text } = parsed(data) as { type: string; id: string; text?: string };
    if (type === 'text') for (const _word of text?.match(/\S+/g) ?? []) socket.send(word);
    if (type === 'flush') socket.send(JSON.stringify({ type: 'done', id }));
  });
}

function parsed(data: Buffer): unknown {
  try {
    return JSON.parse(String(data));
  } catch {
    return undefined;
  }
}

function isLoud(samples: Buffer): boolean {
  for (let at = 0; at + 1 < samples.length; at += 8)
    if (Math.abs(samples.readInt16LE(at)) > LOUD) return true;
  return false;
}
