import { createEmitter, type Emitter } from '../../../../src/base/emitter.ts';
import { CallwayError } from '../../../../src/base/errors.ts';
import type { MediaEvents, MediaSession } from '../../../../src/media/mediaSession.ts';
import type { Gates } from './gates.ts';

/** How the engines and threads behind the audio are. */
export interface AudioFate {
  /** No audio can be opened. */
  refuses: boolean;
  /** No engine takes the stream. */
  isEngineAway: boolean;
}

export interface FakeAudio extends MediaSession {
  readonly events: Emitter<MediaEvents>;
  readonly isClosed: boolean;
  /** Whether the peer hears an engine, or somebody whom it was joined with and who is there still. */
  readonly isHeard: boolean;
  /** The engine goes away. */
  breakEngine(how: 'stopped' | 'broken'): void;
}

/** The audio of one call; what is asked of it reaches its thread later, in the order of asking. */
export function createAudio(gates: Gates, fate: AudioFate): FakeAudio {
  const events = createEmitter<MediaEvents>((error) => {
    throw error;
  });
  let isClosed = false;
  let path: string | undefined;
  let hasEngine = false;
  let neighbour: FakeAudio | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const inThread = <Result>(what: string, work: () => Result): Promise<Result> => {
    const done = last.then(async () => {
      await gates.pass(`audio: ${what}`);
      return work();
    });
    last = done.catch(() => undefined);
    // The answer comes back behind whatever else comes meanwhile.
    return done.then(async (result) => {
      await gates.pass(`audio: ${what} is done`);
      return result;
    });
  };
  const ask = <Result>(what: string, work: () => Result) =>
    inThread(what, () => {
      if (isClosed) throw new CallwayError('conflict', 'call_ended', 'the call has ended');
      return work();
    });
  let closing: ReturnType<MediaSession['close']> | undefined;
  const audio: FakeAudio = {
    address: '127.0.0.1',
    rtpPort: 4000,
    events,
    get isClosed() {
      return isClosed;
    },
    get isHeard() {
      return hasEngine || (neighbour !== undefined && !neighbour.isClosed);
    },
    breakEngine(how) {
      if (isClosed || !hasEngine) return;
      hasEngine = false;
      events.emit('streamClosed', { how, code: 1000, reason: '' });
    },
    connect: async () => undefined,
    startStream: () =>
      ask('bridge', () => {
        if (fate.isEngineAway)
          throw new CallwayError('unavailable', 'engine_unavailable', 'nobody listens there');
        hasEngine = true;
      }),
    playApology: () => ask('apology', () => undefined),
    stopStream: () =>
      ask('leave', () => {
        hasEngine = false;
      }),
    sendTransferStatus: () => ask('tell', () => undefined),
    startRingback: () => ask('ring', () => undefined),
    bridge: (other) =>
      ask('join', () => {
        if ((other as FakeAudio).isClosed)
          throw new CallwayError('conflict', 'media_elsewhere', 'it has ended');
        neighbour = other as FakeAudio;
      }),
    unbridge: () =>
      ask('part', () => {
        neighbour = undefined;
      }),
    startRecording: (request) =>
      ask('record', () => {
        path = request.path;
      }),
    sendDtmf: async () => undefined,
    receiveDtmf: async () => undefined,
    quality: () => Promise.reject(new Error('not asked for')),
    close() {
      closing ??= inThread('close', () => {
        isClosed = true;
        return {
          packetsSent: 0,
          ...(path === undefined ? {} : { recording: { path, durationMs: 1, lengthBytes: 1 } }),
        };
      });
      return closing;
    },
  };
  return audio;
}
