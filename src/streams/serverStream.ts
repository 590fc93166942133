import { createEmitter } from '../base/emitter.ts';
import { pcmu } from '../media/codecs/g711.ts';
import type { AudioStream, AudioStreamEvents, PlayoutPosition, StreamInfo } from '../voice/audioStream.ts';
import { readL16, writeL16 } from './dialects/wire/pcm16.ts';
import { createEngineMessages } from './engineMessages.ts';
import { readMessage, type StreamMessage } from './messages.ts';
import { createPlayoutEstimate } from './playoutEstimate.ts';
import { CLOSE_NORMAL, CLOSE_TOO_SLOW, OPEN, type StreamSocket } from './transport/streamSocket.ts';

/** Audio for several minutes that the other side does not take: it is not playing. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** A hole in the caller's audio is filled up to here; what is longer is the carrier's trouble. */
const MAX_GAP_MS = 5000;
/** Twilio's frames are 20 ms apart; less than another one is only rounding. */
const MIN_GAP_MS = 40;

export interface ServerStreamOptions {
  readonly info: StreamInfo;
  readonly onListenerError: (error: unknown, event: string) => void;
}

/** The engine's end of the bridge, with the counters of what it could not read. */
export interface ServerStream extends AudioStream {
  /** For what came before the stream was made, and for what comes after. */
  receive(data: Buffer, isBinary: boolean): void;
  readonly malformed: number;
  /** Whether the other side said that the call is over, rather than only going away. */
  readonly wasStopped: boolean;
}

/** Makes an audio stream of a WebSocket whose `start` has been read. */
export function createServerStream(socket: StreamSocket, options: ServerStreamOptions): ServerStream {
  const { info } = options;
  const isTwilio = info.dialect === 'twilio';
  const emitter = createEmitter<AudioStreamEvents>(options.onListenerError);
  const messages = createEngineMessages(info.streamId, info.dialect);
  const estimate = createPlayoutEstimate();
  const muLaw = pcmu.open();
  let receivedSamples = 0;
  let malformed = 0;
  let isClosed = false;
  let wasStopped = false;
  /** Marks that were sent before a clear, and so come back for having been dropped. */
  let pendingMarks: { readonly name: string; isCleared: boolean }[] = [];

  const send = (data: string | Uint8Array | undefined) => {
    if (data === undefined || isClosed || socket.readyState !== OPEN) return;
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) {
      socket.close(CLOSE_TOO_SLOW, 'the audio is not taken');
      return;
    }
    socket.send(data, { binary: typeof data !== 'string' });
  };

  const takeAudio = (samples: Int16Array) => {
    if (samples.length === 0) return;
    receivedSamples += samples.length;
    estimate.received(samples.length);
    emitter.emit('audio', samples);
  };

  const takeMedia = ({ payload, timestampMs }: StreamMessage & { event: 'media' }) => {
    const bytes = Buffer.from(payload, 'base64');
    if (bytes.length === 0) malformed++;
    const gapMs = timestampMs === undefined ? 0 : timestampMs - (receivedSamples * 1000) / info.sampleRateHz;
    if (gapMs >= MIN_GAP_MS && gapMs <= MAX_GAP_MS) {
      takeAudio(new Int16Array(Math.round((gapMs * info.sampleRateHz) / 1000)));
    }
    const samples = new Int16Array(bytes.length);
    muLaw.decode(bytes, samples);
    takeAudio(samples);
  };

  const takeMark = ({ name, outcome, position }: StreamMessage & { event: 'mark' }) => {
    const index = pendingMarks.findIndex((mark) => mark.name === name);
    // A mark that was never sent, or came twice.
    if (index < 0) return;
    const isCleared = pendingMarks[index]?.isCleared === true;
    pendingMarks.splice(index, 1);
    const result = outcome ?? (isCleared ? 'cleared' : 'played');
    emitter.emit('mark', { name, outcome: result, ...positionOf(position) });
  };

  const positionOf = (told: PlayoutPosition | undefined): PlayoutPosition => told ?? estimate.position();

  const take = (message: StreamMessage | undefined) => {
    switch (message?.event) {
      case 'media':
        if (isTwilio) takeMedia(message);
        else malformed++;
        break;
      case 'dtmf':
        for (const digit of message.digits) emitter.emit('dtmf', { digit });
        break;
      case 'hold':
        emitter.emit('hold', { isHeld: message.isHeld });
        break;
      case 'mark':
        takeMark(message);
        break;
      case 'cleared':
        emitter.emit('cleared', message.position);
        break;
      case 'transfer_status':
        emitter.emit('transfer', message.progress);
        break;
      case 'stop':
        // The socket stays open until the talk has been put away, so that the other side knows when it is.
        wasStopped = true;
        finish(CLOSE_NORMAL, '');
        break;
      case undefined:
        malformed++;
        break;
      default:
        // What is told once, or is said by engines only.
        break;
    }
  };

  const finish = (code: number, reason: string) => {
    if (isClosed) return;
    isClosed = true;
    pendingMarks = [];
    muLaw.close();
    emitter.emit('closed', { code, reason });
  };
  socket.on('close', (code, reason) => finish(code, reason.toString('utf8')));

  return {
    info,
    events: emitter,
    get receivedSamples() {
      return receivedSamples;
    },
    get malformed() {
      return malformed;
    },
    get wasStopped() {
      return wasStopped;
    },
    receive(data, isBinary) {
      if (isClosed) return;
      if (!isBinary) take(readMessage(data.toString('utf8')));
      else if (isTwilio) malformed++;
      else {
        if (data.length % 2 === 1) malformed++;
        takeAudio(readL16(data));
      }
    },
    play(samples) {
      if (samples.length === 0) return;
      estimate.queued(samples.length);
      if (!isTwilio) {
        send(writeL16(samples));
        return;
      }
      const bytes = new Uint8Array(samples.length);
      muLaw.encode(samples, bytes);
      send(messages.media(bytes));
    },
    mark(name) {
      pendingMarks.push({ name, isCleared: false });
      send(messages.mark(name));
    },
    clear() {
      for (const mark of pendingMarks) mark.isCleared = true;
      send(messages.clear());
      estimate.cleared();
      // Twilio answers with the dropped marks only; ours tells where it stopped.
      if (isTwilio) queueMicrotask(() => !isClosed && emitter.emit('cleared', estimate.position()));
    },
    command(command) {
      const text = messages.command(command);
      if (text !== undefined) send(text);
      else if (command.kind === 'hangup') socket.close(CLOSE_NORMAL, 'hangup');
    },
    setFailoverPrompts: (words) => send(messages.standby(words)),
    close(code = CLOSE_NORMAL, reason = '') {
      socket.close(code, reason);
    },
  };
}
