import { PlayoutQueue } from '../agentStream/playoutQueue.ts';
import type { StreamClient, StreamHandler } from '../agentStream/streamClient.ts';
import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import type { SupervisionMode } from './supervisorStream.ts';

/** Ten seconds: a connection that takes nothing for this long is closed. */
const MAX_DROPPED_FRAMES = 500;
/** Speech may arrive at once, as after a pause of the network, but no more than this is ahead of the call. */
const MAX_QUEUED_MS = 30_000;
/** The queued audio above which frames without a voice are dropped, so that the supervisor's delay shrinks again. */
const TARGET_QUEUED_MS = 120;
/** Below -50 dB of full scale. */
const QUIET_PEAK = 100;

/** @see RFC 6455 section 7.4.1 */
export const NORMAL_CLOSURE = 1000;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

/** The one person in a call who hears a supervisor's whisper. */
export interface WhisperListener {
  /** @param voice - The next 20 ms, at the rate of the call's codec. Copied. */
  whisper(voice: Int16Array): void;
  readonly hasLeft: boolean;
}

export interface SupervisorOptions {
  readonly id: string;
  readonly mode: SupervisionMode;
  /** The only listener of a whisper. Default: all people in the call but the caller. */
  readonly listener?: WhisperListener | undefined;
  readonly streamRateHz: SampleRateHz;
  readonly codecRateHz: SampleRateHz;
  /** Called once, at the end. @param hadJoined - True when there was a connection. */
  readonly onLeft: (hadJoined: boolean) => void;
}

/** A supervisor of a call. It passes their voice to the call, and the call's audio to them. */
export class Supervisor {
  readonly id: string;
  readonly mode: SupervisionMode;
  readonly listener: WhisperListener | undefined;
  readonly #onLeft: SupervisorOptions['onLeft'];
  readonly #streamRateHz: SampleRateHz;
  readonly #queue: PlayoutQueue;
  readonly #frame: Int16Array;
  #toCall: FrameResampler;
  #client: StreamClient | undefined;
  #sentSamples = 0;
  #droppedFrames = 0;
  #hasLeft = false;
  #closedFor = '';
  /** The resampler still holds the end of a word. */
  #wasSounding = false;

  constructor({ id, mode, listener, streamRateHz, codecRateHz, onLeft }: SupervisorOptions) {
    this.id = id;
    this.mode = mode;
    this.listener = listener;
    this.#onLeft = onLeft;
    this.#streamRateHz = streamRateHz;
    this.#queue = new PlayoutQueue({ sampleRateHz: streamRateHz, onMark: () => {} });
    this.#frame = new Int16Array(frameLength(streamRateHz));
    this.#toCall = createFrameResampler(streamRateHz, codecRateHz);
  }

  /** The handler of the supervisor's messages. All except audio are ignored: a supervisor sends commands by the API. */
  readonly handler: StreamHandler = {
    audio: (samples) => this.#receive(samples),
    mark: () => {},
    clear: () => {},
    command: () => {},
    failoverPrompts: () => {},
    closed: () => this.#leave(),
  };

  /** @returns False for a supervisor who was closed before; the connection is then closed too. */
  connect(client: StreamClient): boolean {
    if (this.#hasLeft) void client.close(NORMAL_CLOSURE, this.#closedFor);
    else this.#client = client;
    return !this.#hasLeft;
  }

  changeRate(codecRateHz: SampleRateHz): void {
    this.#toCall = createFrameResampler(this.#streamRateHz, codecRateHz);
  }

  /**
   * @returns The next 20 ms of the supervisor's voice at the codec's rate, valid until the next call; undefined for
   * silence.
   */
  pullVoice(): Int16Array | undefined {
    if (this.listener?.hasLeft) {
      this.close(NORMAL_CLOSURE, 'the participant has left the call');
      return undefined;
    }
    if (this.#queue.queuedSamples === 0 && !this.#wasSounding) return undefined;
    this.#pull();
    while (this.#queuedMs > TARGET_QUEUED_MS && isQuiet(this.#frame)) this.#pull();
    return this.#toCall.process(this.#frame);
  }

  /** @param stereo - The call's next 20 ms, interleaved at the stream's rate. Copied. */
  hear(stereo: Int16Array): void {
    if (this.#client === undefined || this.#hasLeft) return;
    if (!this.#client.isBehind) {
      this.#droppedFrames = 0;
      this.#client.toAgent.audio(stereo, this.#sentSamples);
      this.#sentSamples += stereo.length;
      return;
    }
    this.#droppedFrames++;
    if (this.#droppedFrames > MAX_DROPPED_FRAMES)
      this.close(TRY_AGAIN_LATER, 'the call’s audio is not read in time');
  }

  close(code: number, reason: string): void {
    this.#closedFor = reason;
    void this.#client?.close(code, reason);
    this.#leave();
  }

  #receive(samples: Int16Array): void {
    if (this.#hasLeft || this.mode === 'listen' || samples.length === 0) return;
    const room = (MAX_QUEUED_MS - this.#queuedMs) * (this.#streamRateHz / 1000);
    if (samples.length <= room) this.#queue.enqueue(samples);
    else this.close(POLICY_VIOLATION, 'audio arrives faster than it is spoken');
  }

  get #queuedMs(): number {
    return (this.#queue.queuedSamples * 1000) / this.#streamRateHz;
  }

  #pull(): void {
    this.#wasSounding = this.#queue.pull(this.#frame) > 0;
  }

  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#onLeft(this.#client !== undefined);
  }
}

function isQuiet(frame: Int16Array): boolean {
  return frame.every((sample) => Math.abs(sample) < QUIET_PEAK);
}
