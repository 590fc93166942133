import { createEmitter, type Emitter } from '../../../../src/base/emitter.ts';
import { CallwayError } from '../../../../src/base/errors.ts';
import type { MediaEvents, MediaSession } from '../../../../src/media/mediaSession.ts';
import type { Gates } from './gates.ts';

/** Failures of the media threads and agents. */
export interface AudioFate {
  /** No media session can be opened. */
  refuses: boolean;
  /** No agent accepts a stream. */
  isAgentAway: boolean;
}

export interface FakeAudio extends MediaSession {
  readonly events: Emitter<MediaEvents>;
  readonly isClosed: boolean;
  /** Whether the peer hears the agent, or a bridged peer that is still there. */
  readonly isHeard: boolean;
  /** The agent stream breaks, or is stopped by the agent. */
  closeStream(how: 'stopped' | 'broken'): void;
}

/** The media session of one call. Requests reach its thread later, in order. */
export function createAudio(gates: Gates, fate: AudioFate): FakeAudio {
  const events = createEmitter<MediaEvents>((error) => {
    throw error;
  });
  let isClosed = false;
  let path: string | undefined;
  let hasStream = false;
  let bridged: FakeAudio | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const inThread = <Result>(what: string, work: () => Result): Promise<Result> => {
    const done = last.then(async () => {
      await gates.pass(`audio: ${what}`);
      return work();
    });
    last = done.catch(() => undefined);
    // The answer comes back later, too.
    return done.then(async (result) => {
      await gates.pass(`audio: ${what} done`);
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
      return hasStream || (bridged !== undefined && !bridged.isClosed);
    },
    closeStream(how) {
      if (isClosed || !hasStream) return;
      hasStream = false;
      events.emit('streamClosed', { how, code: 1000, reason: '' });
    },
    connect: async () => undefined,
    startStream: () =>
      ask('open stream', () => {
        if (fate.isAgentAway)
          throw new CallwayError('unavailable', 'engine_unavailable', 'connection refused');
        hasStream = true;
      }).then(() => {
        // A transfer target was told about the call; no other stream says so.
        if (!isClosed) events.emit('command', { kind: 'briefing', outcome: 'told' });
      }),
    awaitAgent: () => ask('ask to hold', () => undefined),
    playApology: () => ask('apology', () => undefined),
    stopStream: () =>
      ask('close stream', () => {
        hasStream = false;
      }),
    sendTransferStatus: () => ask('transfer status', () => undefined),
    controlAgent: () => ask('control agent', () => undefined),
    admitSupervisor: () => ask('admit supervisor', () => ({ port: 1, path: '/' })),
    pauseRecording: () => ask('pause recording', () => undefined),
    startRingback: () => ask('ringback', () => undefined),
    bridge: (other) =>
      ask('bridge', () => {
        if ((other as FakeAudio).isClosed)
          throw new CallwayError('conflict', 'media_elsewhere', 'it has ended');
        bridged = other as FakeAudio;
      }),
    unbridge: () =>
      ask('unbridge', () => {
        bridged = undefined;
      }),
    join: (call) =>
      ask('join', () => {
        bridged = call as FakeAudio;
      }),
    setParticipation: () => ask('participation', () => undefined),
    startMusic: () => ask('music', () => undefined),
    stopMusic: () => ask('stop music', () => undefined),
    recordAside: () => ask('record aside', () => undefined),
    startRecording: (request) =>
      ask('record', () => {
        path = request.path;
      }),
    sendDtmf: async () => undefined,
    receiveDtmf: async () => undefined,
    quality: () => Promise.reject(new Error('not used here')),
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
