import { CallwayError } from '../../base/errors.ts';
import type { StreamTarget } from '../agentStream/streamClient.ts';
import { mixInto } from '../pcm16.ts';
import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import { type SampleRateHz, speechRateHz } from '../resample/resampler.ts';
import { interleaveStereo } from '../wav.ts';
import { NORMAL_CLOSURE, Supervisor, type WhisperListener } from './supervisor.ts';
import {
  SUPERVISOR_CHANNELS,
  type SupervisionMode,
  type SupervisorAddress,
  type SupervisorChange,
  type SupervisorGate,
  type SupervisorRequest,
} from './supervisorStream.ts';

/** The most supervisors that listen or whisper; each receives 32 to 64 KB a second. */
const MAX_LISTENERS = 5;

export interface CallSupervisorsDeps {
  readonly gate: SupervisorGate;
  readonly codecRateHz: SampleRateHz;
  readonly onChange: (change: SupervisorChange) => void;
}

/**
 * The supervisors of one call. The call asks for their voices at the begin of each tick, and passes its audio on at the
 * end:
 *
 * ```
 *  whisper ─▶ voices ─▶ to the bridge peer, with the caller's audio, and to the participants, with their mix;
 *                       or to one participant alone
 *  takeover ─▶ voices ─▶ to the caller, in place of the agent
 *  caller left, what the caller hears right ─▶ every supervisor
 * ```
 */
export class CallSupervisors {
  readonly #deps: CallSupervisorsDeps;
  /** The rate of all supervisors' streams, so that each frame is resampled once. */
  readonly #streamRateHz: SampleRateHz;
  readonly #supervisors = new Set<Supervisor>();
  readonly #callEnd = new AbortController();
  readonly #stereo: Int16Array;
  #codecRateHz: SampleRateHz;
  #left: FrameResampler;
  #right: FrameResampler;
  #ofOthers: FrameResampler;
  #whisper: Int16Array;
  #whisperers = 0;
  #takeover: Int16Array | undefined;
  /** True when the caller hears `#takeover` in this tick. */
  #isTakeoverHeard = false;
  /** The voices that the caller hears beside the supervisor who has taken over. */
  #others: Int16Array;

  constructor(deps: CallSupervisorsDeps) {
    this.#deps = deps;
    this.#codecRateHz = deps.codecRateHz;
    this.#streamRateHz = speechRateHz(deps.codecRateHz);
    this.#stereo = new Int16Array(SUPERVISOR_CHANNELS * frameLength(this.#streamRateHz));
    this.#left = this.#toStream();
    this.#right = this.#toStream();
    this.#ofOthers = this.#toStream();
    this.#whisper = new Int16Array(frameLength(deps.codecRateHz));
    this.#others = new Int16Array(frameLength(deps.codecRateHz));
  }

  get isEmpty(): boolean {
    return this.#supervisors.size === 0;
  }

  /**
   * Lets a supervisor in, who has half a minute to connect.
   *
   * @param listener - The participant who alone hears the whisper; undefined for all.
   * @throws {CallwayError} 409 `call_taken_over` for a second takeover, `too_many_supervisors`.
   */
  async admit(
    { supervisorId, callId, mode }: SupervisorRequest,
    listener?: WhisperListener,
  ): Promise<SupervisorAddress> {
    this.#requireRoom(mode);
    const supervisor: Supervisor = new Supervisor({
      id: supervisorId,
      mode,
      listener,
      streamRateHz: this.#streamRateHz,
      codecRateHz: this.#codecRateHz,
      onLeft: (hadJoined) => this.#onLeft(supervisor, hadJoined),
    });
    this.#supervisors.add(supervisor);
    const request = {
      target: targetOf(supervisorId, callId, mode),
      sampleRateHz: this.#streamRateHz,
      signal: this.#callEnd.signal,
    };
    try {
      const { port, path, connected } = await this.#deps.gate.admit(request, supervisor.handler);
      void connected.then((client) => {
        if (client === undefined) this.#supervisors.delete(supervisor);
        else if (supervisor.connect(client)) this.#onJoined(supervisor);
      });
      return { port, path };
    } catch (error) {
      this.#supervisors.delete(supervisor);
      throw error;
    }
  }

  /** Takes the next 20 ms of the supervisors' voices. */
  pullVoices(): void {
    this.#whisperers = 0;
    this.#takeover = undefined;
    this.#isTakeoverHeard = false;
    for (const supervisor of this.#supervisors) {
      const voice = supervisor.pullVoice();
      if (voice === undefined) continue;
      if (supervisor.mode === 'takeover') this.#takeover = voice;
      else if (supervisor.listener) supervisor.listener.whisper(voice);
      else if (this.#whisperers++ === 0) this.#whisper.set(voice);
      else mixInto(this.#whisper, voice);
    }
  }

  /** The whisper that all people in the call except the caller hear in this tick; undefined without one. */
  get whisper(): Int16Array | undefined {
    return this.#whisperers === 0 ? undefined : this.#whisper;
  }

  /** @returns The frame for the person on the other end of a bridge: the caller's, with what is whispered. */
  toPeer(caller: Int16Array): Int16Array {
    if (this.#whisperers === 0) return caller;
    mixInto(this.#whisper, caller);
    return this.#whisper;
  }

  /** Adds the voice of the supervisor who has taken over to the frame for the caller. */
  toCaller(frame: Int16Array): void {
    if (!this.#takeover) return;
    mixInto(frame, this.#takeover);
    this.#isTakeoverHeard = true;
  }

  /** Passes a tick's audio on. @param heard - What the caller hears. */
  hear(caller: Int16Array, heard: Int16Array): void {
    const left = this.#left.process(caller);
    interleaveStereo(left, this.#right.process(heard), this.#stereo);
    let takeover: Supervisor | undefined;
    for (const supervisor of this.#supervisors) {
      if (supervisor.mode === 'takeover') takeover = supervisor;
      else supervisor.hear(this.#stereo);
    }
    if (takeover === undefined) return;
    this.#others.set(heard);
    if (this.#takeover && this.#isTakeoverHeard) mixInto(this.#others, this.#takeover, -1);
    interleaveStereo(left, this.#ofOthers.process(this.#others), this.#stereo);
    takeover.hear(this.#stereo);
  }

  /** The call has another codec from now on. */
  changeRate(codecRateHz: SampleRateHz): void {
    this.#codecRateHz = codecRateHz;
    this.#left = this.#toStream();
    this.#right = this.#toStream();
    this.#ofOthers = this.#toStream();
    this.#whisper = new Int16Array(frameLength(codecRateHz));
    this.#others = new Int16Array(frameLength(codecRateHz));
    for (const supervisor of this.#supervisors) supervisor.changeRate(codecRateHz);
  }

  /** Closes the supervisor who has taken over, since the agent's place no longer exists. */
  endTakeover(reason: string): void {
    for (const supervisor of this.#supervisors) {
      if (supervisor.mode === 'takeover') supervisor.close(NORMAL_CLOSURE, reason);
    }
  }

  close(reason: string): void {
    this.#callEnd.abort();
    for (const supervisor of this.#supervisors) supervisor.close(NORMAL_CLOSURE, reason);
  }

  #requireRoom(mode: SupervisionMode): void {
    const isTakeover = mode === 'takeover';
    const others = [...this.#supervisors].filter((one) => (one.mode === 'takeover') === isTakeover);
    if (isTakeover && others.length > 0)
      throw new CallwayError('conflict', 'call_taken_over', 'Another supervisor has taken over the call');
    if (!isTakeover && others.length >= MAX_LISTENERS) {
      const message = `The call has ${MAX_LISTENERS} supervisors, or tickets for them, already`;
      throw new CallwayError('conflict', 'too_many_supervisors', message);
    }
  }

  #onJoined({ id, mode }: Supervisor): void {
    this.#deps.onChange({ supervisorId: id, mode, status: 'joined' });
  }

  #onLeft(supervisor: Supervisor, hadJoined: boolean): void {
    const { id, mode } = supervisor;
    this.#supervisors.delete(supervisor);
    if (hadJoined) this.#deps.onChange({ supervisorId: id, mode, status: 'left' });
  }

  #toStream(): FrameResampler {
    return createFrameResampler(this.#codecRateHz, this.#streamRateHz);
  }
}

function targetOf(supervisorId: string, callId: string, mode: SupervisionMode): StreamTarget {
  return {
    url: '',
    dialect: 'callway',
    streamId: supervisorId,
    callId,
    customParameters: { mode },
    canReconnect: false,
  };
}
