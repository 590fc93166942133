import { type FromProcessor, PROCESSOR, type ToProcessor, WIRE_RATE_HZ } from './messages.ts';

const SUBPROTOCOL = 'audio.callway.v1';
const NORMAL_CLOSE = 1000;
/** Of a token that has no minutes left, or was revoked. */
const POLICY_CLOSE = 1008;
const NO_PHONE_LINE = 'a browser has no phone line that could be transferred';

/** Why a talk did not begin, or ended: the page has the words. */
export type TalkProblem = 'unsupported' | 'microphone_denied' | 'microphone_missing' | 'lost' | 'not_allowed';

export class TalkError extends Error {
  readonly problem: TalkProblem;

  constructor(problem: TalkProblem, cause?: unknown) {
    super(problem, { cause });
    this.name = 'TalkError';
    this.problem = problem;
  }
}

/** What one side says; of the agent, what was heard of it so far. */
export interface Caption {
  readonly speaker: 'caller' | 'agent';
  readonly text: string;
  readonly isFinal: boolean;
}

export interface TalkHandlers {
  onCaption(caption: Caption): void;
  /** How loud both sides are, 0 to 1; some 16 times a second. */
  onLevels?(caller: number, agent: number): void;
  /** The agent would transfer the call, which a browser cannot. */
  onTransfer?(to: string): void;
  /** The last call. @param problem - Absent where one side hung up. */
  onEnd(problem?: TalkProblem): void;
}

export interface TalkOptions extends TalkHandlers {
  /** Of `processor.ts`, built. */
  readonly processorUrl: string;
  /** Opens a stream of the dialect `callway`. Called once the microphone is open, since its URL expires. */
  readonly openStream: () => Promise<string>;
}

/** A talk with the agent over the browser's microphone and loudspeaker. */
export interface Talk {
  mute(isMuted: boolean): void;
  sendDigit(digit: string): void;
  hangUp(): void;
}

/**
 * Begins a talk. Call it on a click: browsers start audio for users only.
 *
 * @throws {TalkError}
 * @throws What `openStream` throws.
 */
export async function startTalk(options: TalkOptions): Promise<Talk> {
  if (!navigator.mediaDevices || typeof AudioWorkletNode === 'undefined') throw new TalkError('unsupported');
  const context = new AudioContext({ latencyHint: 'interactive' });
  let microphone: MediaStream | undefined;
  const release = () => {
    for (const track of microphone?.getTracks() ?? []) track.stop();
    void context.close();
  };
  try {
    const loading = context.audioWorklet.addModule(options.processorUrl);
    // Whichever fails first is reported.
    loading.catch(() => undefined);
    microphone = await openMicrophone();
    await loading;
    await context.resume();
    const url = await options.openStream();
    const node = new AudioWorkletNode(context, PROCESSOR, { outputChannelCount: [1] });
    const source = context.createMediaStreamSource(microphone);
    const socket = await connect(url);
    return new BrowserTalk(options, { socket, node, source, microphone, release });
  } catch (error) {
    release();
    throw error;
  }
}

interface Parts {
  readonly socket: WebSocket;
  readonly node: AudioWorkletNode;
  readonly source: AudioNode;
  readonly microphone: MediaStream;
  readonly release: () => void;
}

/** The gateway's side of the dialect `callway`. */
class BrowserTalk implements Talk {
  readonly #handlers: TalkHandlers;
  readonly #parts: Parts;
  readonly #streamSid = crypto.randomUUID();
  #isOver = false;

  constructor(handlers: TalkHandlers, parts: Parts) {
    this.#handlers = handlers;
    this.#parts = parts;
    const { socket, node, source } = parts;
    socket.onmessage = ({ data }) => this.#read(data);
    socket.onclose = ({ code }) => this.#end(problemOf(code));
    node.port.onmessage = ({ data }: MessageEvent<FromProcessor>) => this.#onAudio(data);
    this.#send('connected', { protocol: 'Call', version: '1.0.0' });
    this.#send('start', {
      start: {
        streamSid: this.#streamSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/l16;endianness=little', sampleRate: WIRE_RATE_HZ, channels: 1 },
        customParameters: {},
      },
    });
    source.connect(node).connect(node.context.destination);
  }

  mute(isMuted: boolean): void {
    for (const track of this.#parts.microphone.getTracks()) track.enabled = !isMuted;
    this.#tell({ kind: 'mute', isMuted });
  }

  sendDigit(digit: string): void {
    this.#send('dtmf', { dtmf: { track: 'inbound_track', digit } });
  }

  hangUp(): void {
    this.#send('stop', { stop: {} });
    this.#end();
  }

  #read(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      this.#tell({ kind: 'play', samples: new Int16Array(data) });
      return;
    }
    const message = JSON.parse(String(data));
    switch (message.event) {
      case 'mark':
        this.#tell({ kind: 'mark', name: message.mark.name });
        break;
      case 'clear':
        this.#tell({ kind: 'clear' });
        break;
      case 'caption':
        this.#handlers.onCaption(message.caption);
        break;
      case 'hangup':
        this.hangUp();
        break;
      case 'transfer':
        this.#refuseTransfer(message.transfer.to);
    }
  }

  #refuseTransfer(to: string): void {
    this.#handlers.onTransfer?.(to);
    const transfer = { status: 'failed', to, reason: NO_PHONE_LINE, outcome: 'failed' };
    this.#send('transfer_status', { transfer });
  }

  #onAudio(message: FromProcessor): void {
    const { socket } = this.#parts;
    switch (message.kind) {
      case 'frame':
        if (socket.readyState === WebSocket.OPEN) socket.send(message.samples);
        break;
      case 'mark': {
        const { name, outcome, position } = message;
        this.#send('mark', { mark: { name, outcome, position } });
        break;
      }
      case 'cleared':
        this.#send('cleared', { position: message.position });
        break;
      case 'levels':
        this.#handlers.onLevels?.(message.caller, message.agent);
    }
  }

  #end(problem?: TalkProblem): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { socket, node, release } = this.#parts;
    node.port.onmessage = null;
    socket.close(NORMAL_CLOSE);
    release();
    this.#handlers.onEnd(problem);
  }

  #tell(message: ToProcessor): void {
    this.#parts.node.port.postMessage(message);
  }

  #send(event: string, fields: object): void {
    const { socket } = this.#parts;
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(JSON.stringify({ event, streamSid: this.#streamSid, ...fields }));
  }
}

export async function openMicrophone(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    });
  } catch (error) {
    const isMissing = error instanceof DOMException && error.name === 'NotFoundError';
    throw new TalkError(isMissing ? 'microphone_missing' : 'microphone_denied', error);
  }
}

export async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, SUBPROTOCOL);
  socket.binaryType = 'arraybuffer';
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new TalkError('lost'));
  });
  socket.onerror = null;
  return socket;
}

function problemOf(code: number): TalkProblem | undefined {
  if (code === NORMAL_CLOSE) return undefined;
  return code === POLICY_CLOSE ? 'not_allowed' : 'lost';
}
