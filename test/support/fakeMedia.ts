import { createEmitter, type Emitter } from '../../src/base/emitter.ts';
import { CallwayError } from '../../src/base/errors.ts';
import type {
  MediaEngine,
  MediaEvents,
  MediaParameters,
  MediaSession,
} from '../../src/media/mediaSession.ts';

/** A media session that records what it is asked to do and has no audio. */
export interface FakeMediaSession extends MediaSession {
  readonly callId: string;
  readonly connected: readonly MediaParameters[];
  readonly digits: readonly string[];
  readonly isClosed: boolean;
  readonly events: Emitter<MediaEvents>;
}

export interface FakeMediaEngine extends MediaEngine {
  readonly all: readonly FakeMediaSession[];
  /** Number of open sessions. */
  readonly sessions: number;
  /** Makes `open` fail as if every port were taken. */
  exhaust(): void;
}

const FIRST_PORT = 40_000;

export function createFakeMedia(address = '127.0.0.1'): FakeMediaEngine {
  const all: FakeMediaSession[] = [];
  let isExhausted = false;
  return {
    all,
    get sessions() {
      return all.filter(({ isClosed }) => !isClosed).length;
    },
    exhaust() {
      isExhausted = true;
    },
    async open({ callId }) {
      if (isExhausted) throw new CallwayError('unavailable', 'media_ports_exhausted', 'no port is free');
      const session = fakeSession(callId, address, FIRST_PORT + 2 * all.length);
      all.push(session);
      return session;
    },
    async close() {
      for (const session of all) await session.close();
    },
  };
}

function fakeSession(callId: string, address: string, rtpPort: number): FakeMediaSession {
  const connected: MediaParameters[] = [];
  const digits: string[] = [];
  let isClosed = false;
  return {
    callId,
    address,
    rtpPort,
    connected,
    digits,
    get isClosed() {
      return isClosed;
    },
    events: createEmitter<MediaEvents>((error) => {
      throw error;
    }),
    async connect(parameters) {
      connected.push(parameters);
    },
    async startStream() {},
    async awaitAgent() {},
    async playApology() {},
    async stopStream() {},
    async tellAgent() {},
    async muteAgent() {},
    admitSupervisor: () => Promise.reject(new Error('a fake has no supervisors')),
    async pauseRecording() {},
    async startRingback() {},
    async bridge() {},
    async unbridge() {},
    async join() {},
    async setParticipation() {},
    async startMusic() {},
    async stopMusic() {},
    async recordAside() {},
    async startRecording() {},
    async sendDtmf(text) {
      digits.push(text);
    },
    receiveDtmf: async () => {},
    quality: () => Promise.reject(new Error('a fake has no figures')),
    async close() {
      isClosed = true;
      return { packetsSent: 0 };
    },
  };
}
