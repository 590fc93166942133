import { createEmitter } from '../../../src/base/emitter.ts';
import { PlayoutQueue } from '../../../src/media/agentStream/playoutQueue.ts';
import type {
  CallCommand,
  FailoverPrompts,
  TransferStatus,
} from '../../../src/media/agentStream/streamClient.ts';
import type { AudioStream, AudioStreamEvents } from '../../../src/voice/audioStream.ts';
import type { SimulatedClock } from '../../support/simulatedClock.ts';

const FRAME_MS = 20;

export interface SimulatedStreamOptions {
  readonly clock: SimulatedClock;
  readonly sampleRateHz?: number;
  readonly bufferDelayMs?: number;
  /** Frames until a stop takes effect at the other side and is answered. */
  readonly clearDelayFrames?: number;
  /** Samples that came before anybody listened. */
  readonly receivedBefore?: number;
  /** A foreign peer that never answers marks and stops. */
  readonly isMute?: boolean;
}

/** A call's audio on a simulated clock: plays out what the agent says to the sample, and says what it is given. */
export interface SimulatedStream extends AudioStream {
  readonly commands: readonly CallCommand[];
  /** What was left for the case that the engine dies. */
  readonly words: readonly FailoverPrompts[];
  /** All that went out to the caller, silence included: the agent's side of a recording. */
  readonly agentSide: () => Int16Array;
  /** All that the caller said, silence included. */
  readonly callerSide: () => Int16Array;
  /** The caller says these samples, after what they are saying. */
  speak(samples: Int16Array): void;
  press(digit: string): void;
  /** Puts the agent on hold, or takes it back: what is queued waits meanwhile. */
  putOnHold(isHeld: boolean): void;
  /** The other side tells how a transfer goes. */
  tellTransfer(progress: TransferStatus): void;
  /** Lets time pass, frame by frame. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until it holds. @throws {Error} When it does not within `withinMs`. */
  until(holds: () => boolean, withinMs?: number): Promise<void>;
  hangUp(): Promise<void>;
  readonly nowMs: () => number;
  readonly isClosed: () => boolean;
  /** How many listen to its events. */
  readonly listeners: () => number;
}

export function createSimulatedStream(options: SimulatedStreamOptions): SimulatedStream {
  const { clock, sampleRateHz = 8000, bufferDelayMs = 40, clearDelayFrames = 0, isMute = false } = options;
  const frameSamples = (sampleRateHz * FRAME_MS) / 1000;
  const emitter = createEmitter<AudioStreamEvents>((error) => {
    throw error;
  });
  const marks: { name: string; outcome: 'played' | 'cleared' }[] = [];
  const queue = new PlayoutQueue({
    sampleRateHz,
    onMark: ({ name, outcome }) => marks.push({ name, outcome }),
  });
  const listening = new Set<object>();
  const commands: CallCommand[] = [];
  const standby: FailoverPrompts[] = [];
  const agentSide = createTape();
  const callerSide = createTape();
  let toSay: Int16Array = new Int16Array(0);
  let receivedSamples = options.receivedBefore ?? 0;
  let clearIn: number | undefined;
  let isClosed = false;
  let isHeld = false;

  const position = () => ({ playedSamples: queue.playedPosition, receivedSamples, bufferDelayMs });
  const answerMarks = () => {
    for (const mark of marks.splice(0)) if (!isMute) emitter.emit('mark', { ...mark, ...position() });
  };
  const clearNow = () => {
    clearIn = undefined;
    queue.clear();
    answerMarks();
    if (!isMute) emitter.emit('cleared', position());
  };
  const tick = () => {
    clock.advance(FRAME_MS);
    const frame = new Int16Array(frameSamples);
    frame.set(toSay.subarray(0, frameSamples));
    toSay = toSay.subarray(frameSamples);
    callerSide.append(frame);
    receivedSamples += frameSamples;
    const out = new Int16Array(frameSamples);
    if (!isHeld) queue.pull(out);
    agentSide.append(out);
    answerMarks();
    if (clearIn !== undefined && clearIn-- <= 0) clearNow();
    emitter.emit('audio', frame);
  };
  const close = (code: number, reason: string) => {
    if (isClosed) return;
    isClosed = true;
    emitter.emit('closed', { code, reason });
  };
  const stream: SimulatedStream = {
    info: {
      streamId: 'stream-1',
      dialect: 'callway',
      sampleRateHz,
      projectId: 'project-1',
      sessionId: 's',
      customParameters: {},
    },
    events: {
      on(name, listener) {
        const off = emitter.on(name, listener);
        const one = {};
        listening.add(one);
        return () => {
          listening.delete(one);
          off();
        };
      },
    },
    listeners: () => listening.size,
    commands,
    words: standby,
    play(samples) {
      if (!queue.enqueue(samples).accepted) throw new Error('the playout queue is full');
    },
    mark(name) {
      queue.mark(name);
      // An answer takes its way over the network, also where the mark fires at once.
      setImmediate(answerMarks);
    },
    clear() {
      clearIn ??= clearDelayFrames;
      if (clearDelayFrames === 0) setImmediate(() => clearIn !== undefined && clearNow());
    },
    command: (command) => void commands.push(command),
    setFailoverPrompts: (words) => void standby.push(words),
    get receivedSamples() {
      return receivedSamples;
    },
    close: (code = 1000, reason = '') => close(code, reason),
    agentSide: () => agentSide.all(),
    callerSide: () => callerSide.all(),
    speak(samples) {
      toSay = join([toSay, samples]);
    },
    putOnHold(isHeldNow) {
      isHeld = isHeldNow;
      emitter.emit('hold', { isHeld });
    },
    press: (digit) => emitter.emit('dtmf', { digit }),
    tellTransfer: (progress) => emitter.emit('transfer', progress),
    nowMs: () => (receivedSamples * 1000) / sampleRateHz,
    isClosed: () => isClosed,
    async advance(ms) {
      for (let passed = 0; passed < ms && !isClosed; passed += FRAME_MS) {
        tick();
        await settled();
      }
    },
    async until(holds, withinMs = 60_000) {
      for (let passed = 0; !holds(); passed += FRAME_MS) {
        if (passed >= withinMs) throw new Error(`it did not come to that within ${withinMs} ms`);
        await stream.advance(FRAME_MS);
      }
    },
    async hangUp() {
      close(1000, 'the caller hung up');
      await settled();
    },
  };
  return stream;
}

/** Lets everything run that waits for nothing but its turn. */
async function settled(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** Samples one after the other; what was read of them stays as it is. */
function createTape() {
  let samples = new Int16Array(16_000);
  let length = 0;
  return {
    append(more: Int16Array): void {
      if (length + more.length > samples.length) {
        const longer = new Int16Array(2 * samples.length + more.length);
        longer.set(samples);
        samples = longer;
      }
      samples.set(more, length);
      length += more.length;
    },
    all: () => samples.subarray(0, length),
  };
}

function join(chunks: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
