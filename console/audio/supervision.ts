import { type FromProcessor, PROCESSOR, type ToProcessor, WIRE_RATE_HZ } from './messages.ts';
import { Resampler } from './resampler.ts';
import { connect, openMicrophone } from './talk.ts';

const NORMAL_CLOSE = 1000;
const FULL_SCALE = 32_768;

export interface SupervisionOptions {
  /** Of `processor.ts`, built. */
  readonly processorUrl: string;
  /** Whether the supervisor speaks too: opens the microphone. */
  readonly speaks: boolean;
  /** Called once audio is ready, since its URL expires. */
  readonly openStream: () => Promise<string>;
  /** The last call. @param reason - As the service gives it; empty where the supervisor left. */
  readonly onEnd: (reason: string) => void;
}

/** Hears a call in the browser, and speaks in it. */
export interface Supervision {
  leave(): void;
}

/**
 * Call it on a click: browsers start audio for users only.
 *
 * @throws {TalkError} Without a microphone, or a connection.
 * @throws What `openStream` throws.
 */
export async function startSupervision(options: SupervisionOptions): Promise<Supervision> {
  const context = new AudioContext({ latencyHint: 'interactive' });
  let microphone: MediaStream | undefined;
  let isOver = false;
  const release = () => {
    for (const track of microphone?.getTracks() ?? []) track.stop();
    void context.close();
  };
  const end = (reason: string) => {
    if (isOver) return;
    isOver = true;
    release();
    options.onEnd(reason);
  };
  try {
    await context.audioWorklet.addModule(options.processorUrl);
    if (options.speaks) microphone = await openMicrophone();
    await context.resume();
    const socket = await connect(await options.openStream());
    const node = new AudioWorkletNode(context, PROCESSOR, { outputChannelCount: [1] });
    if (microphone) context.createMediaStreamSource(microphone).connect(node);
    node.connect(context.destination);
    pass(socket, node, options.speaks);
    socket.onclose = ({ reason }) => end(reason);
    return {
      leave() {
        end('');
        socket.close(NORMAL_CLOSE);
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Both directions, between the call's sample rate and the audio thread's. */
function pass(socket: WebSocket, node: AudioWorkletNode, speaks: boolean): void {
  let toCall: Resampler | undefined;
  let fromCall: Resampler | undefined;
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data instanceof ArrayBuffer) {
      const samples = toSamples(fromCall?.process(mixed(new Int16Array(data))));
      node.port.postMessage({ kind: 'play', samples } satisfies ToProcessor);
      return;
    }
    const { event, start } = JSON.parse(String(data));
    if (event !== 'start') return;
    fromCall = new Resampler(start.mediaFormat.sampleRate, WIRE_RATE_HZ);
    toCall = new Resampler(WIRE_RATE_HZ, start.mediaFormat.sampleRate);
  };
  node.port.onmessage = ({ data }: MessageEvent<FromProcessor>) => {
    if (data.kind !== 'frame' || !speaks || !toCall || socket.readyState !== WebSocket.OPEN) return;
    socket.send(toSamples(toCall.process(Float32Array.from(data.samples, (sample) => sample / FULL_SCALE))));
  };
}

/** The caller and what the caller hears, which come as two channels. */
function mixed(stereo: Int16Array): Float32Array {
  return Float32Array.from(
    { length: stereo.length / 2 },
    (_, index) => ((stereo[2 * index] ?? 0) + (stereo[2 * index + 1] ?? 0)) / FULL_SCALE,
  );
}

function toSamples(levels: Float32Array = new Float32Array(0)): Int16Array<ArrayBuffer> {
  return Int16Array.from(levels, (level) =>
    Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(level * FULL_SCALE))),
  );
}
