import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/values/clock.ts';
import type { ConnectStream, StreamTarget } from '../agentStream/streamClient.ts';
import { FRAME_MS } from '../codecs/codec.ts';
import type { CodecRegistry } from '../codecs/registry.ts';
import type { MediaReport } from '../mediaSession.ts';
import { openCallAudio } from '../session/callAudio.ts';
import type { PacketIo, PacketListener, PacketSocket } from '../transport/packetIo.ts';

/** A minute and a half of a call: V8 has compiled by then what each tick runs. */
const TICKS = 4500;
/** The ticks between two writes; a recorder writes whole seconds. */
const TICKS_BETWEEN_WRITES = 50;
const PORT = 30_000;
const PEER = { address: '192.0.2.1', port: PORT, rtcpPort: PORT + 1 };
const CODEC = { encodingName: 'PCMU', rtpClockRateHz: 8000, channels: 1, payloadType: 0 };
const TARGET: StreamTarget = {
  ...{ url: 'ws://agent.invalid', dialect: 'callway', streamId: '', callId: '' },
  ...{ customParameters: {}, canReconnect: false },
};
/** The agent answers each half second of what it hears. */
const ANSWER_SAMPLES = 4000;
const ANSWER_PEAK = 8000;

/**
 * Runs a call as fast as the processor can: its packets come back to it, its agent speaks all the time, and nothing leaves
 * the thread. V8 compiles the code of calls meanwhile. Compiling it during the first calls of a thread would hold up their
 * packets by several milliseconds.
 *
 * @returns The report of that call.
 */
export async function warmUp(codecs: CodecRegistry): Promise<MediaReport> {
  const clock = new ManualClock();
  const audio = await openCallAudio(
    {
      clock,
      codecs,
      packetIo: loopback,
      connectStream: talkativeAgent,
      openRecordingFile: async () => ({ write: async () => {}, close: async () => {} }),
      randomUint32: () => 1,
    },
    { address: '127.0.0.1', rtpPort: PORT, timeoutMs: 0, emit: () => {}, advanceTicks: () => 0 },
  );
  audio.connect({
    ...{ remote: PEER, codec: CODEC, dtmf: undefined, received: [CODEC] },
    ...{ packetDurationMs: FRAME_MS, direction: 'sendrecv' },
  });
  await audio.startStream(TARGET);
  await audio.startRecording({ path: '' });
  for (let tick = 1; tick <= TICKS; tick++) {
    clock.atMs += FRAME_MS;
    audio.tick({ deadlineMs: clock.atMs, lateMs: 0, skippedTicks: 0 });
    if (tick % TICKS_BETWEEN_WRITES === 0) await nextTurn();
  }
  return await audio.close();
}

/** A clock whose timers never fire. */
class ManualClock implements Clock {
  atMs = 0;
  now(): number {
    return this.atMs;
  }
  monotonicMs(): number {
    return this.atMs;
  }
  setTimer() {
    return { cancel: () => {} };
  }
}

/** Sockets whose packets come back to them. */
const loopback: PacketIo = {
  async bind({ port }): Promise<PacketSocket> {
    let receive: PacketListener = () => {};
    return {
      ...{ port, failures: 0 },
      listen(listener) {
        receive = listener;
      },
      send: (bytes, to) => receive(bytes.slice(), to.address, to.port),
      only: () => {},
      close: async () => {},
    };
  },
};

const talkativeAgent: ConnectStream = async ({ sampleRateHz }, handler) => {
  const answer = Int16Array.from({ length: ANSWER_SAMPLES }, (_, n) =>
    Math.round(ANSWER_PEAK * Math.sin((n * n) / 10_000)),
  );
  let heardSamples = ANSWER_SAMPLES;
  return {
    ...{ sampleRateHz, isBehind: false, close: async () => {} },
    toAgent: {
      audio(samples) {
        heardSamples += samples.length;
        if (heardSamples < ANSWER_SAMPLES) return;
        heardSamples -= ANSWER_SAMPLES;
        handler.audio(answer);
        handler.mark('answer');
      },
      dtmf: () => {},
      mark: () => {},
    },
  };
};
