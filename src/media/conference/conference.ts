import { frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import { addVoice, isSilent, Limiter, NO_CHANGE, writeMix } from './mix.ts';
import { Participant } from './participant.ts';

/**
 * The participants of one call, beside the caller and the voice that the caller hears, which is the agent's as a rule.
 * Everybody hears all others. The voices are added up once, at the rate of the call's codec, and each participant's own
 * is subtracted from the sum:
 *
 * ```
 *  caller ─────────▶ gather ──▶ to the agent: caller and participants
 *  participants ───────┘
 *  agent ──────────▶ mix ─────▶ to the caller: agent and participants
 *                     └───────▶ to each participant: the sum without their own voice
 * ```
 */
export class Conference {
  readonly #participants = new Set<Participant>();
  readonly #limiter = new Limiter();
  #sampleRateHz: SampleRateHz;
  /** The caller's frame of this tick. The participants' voices and their number are of this tick too. */
  #caller: Int16Array = new Int16Array(0);
  #voices: Int32Array;
  #count = 0;
  #sum: Int32Array;
  #heard: Int16Array;

  /** @param sampleRateHz - The rate of the call's codec. */
  constructor(sampleRateHz: SampleRateHz) {
    const length = frameLength(sampleRateHz);
    this.#sampleRateHz = sampleRateHz;
    this.#voices = new Int32Array(length);
    this.#sum = new Int32Array(length);
    this.#heard = new Int16Array(length);
  }

  /** Adds a participant, who leaves by `close`. @param sampleRateHz - The rate of the participant's codec. */
  join(sampleRateHz: SampleRateHz): Participant {
    const participant: Participant = new Participant({
      sampleRateHz,
      mixRateHz: this.#sampleRateHz,
      onClosed: () => this.#participants.delete(participant),
    });
    this.#participants.add(participant);
    return participant;
  }

  /**
   * Takes the next 20 ms of all voices but the agent's.
   *
   * @param caller - The caller's frame at the call's rate; kept until `mix`.
   * @returns The agent's input, valid until the next call: the caller's own frame while no participant speaks.
   */
  gather(caller: Int16Array): Int16Array {
    this.#caller = caller;
    this.#count = 0;
    for (const participant of this.#participants) {
      const voice = participant.takeVoice();
      if (voice === undefined) continue;
      if (this.#count++ === 0) this.#voices.fill(0);
      addVoice(this.#voices, voice);
    }
    if (this.#count === 0) return caller;
    this.#sum.set(this.#voices);
    addVoice(this.#sum, caller);
    writeMix(this.#heard, this.#sum, NO_CHANGE);
    return this.#heard;
  }

  /**
   * Passes the tick's voices on. @param agent - The agent's frame at the call's rate; on return, the caller's output.
   */
  mix(agent: Int16Array): void {
    if (this.#participants.size === 0) return;
    const sum = this.#sum;
    let voices = this.#count;
    if (voices > 0) sum.set(this.#voices);
    else sum.fill(0);
    if (this.#add(this.#caller)) voices++;
    if (this.#add(agent)) voices++;
    // A participant may hear a whisper in the silence of all others.
    const gains = voices === 0 ? NO_CHANGE : this.#limiter.next(sum);
    for (const participant of this.#participants) participant.hear(sum, voices, gains);
    if (this.#count > 0) writeMix(agent, sum, gains, this.#caller);
  }

  /**
   * Plays a voice to all participants that neither caller nor agent hears.
   *
   * @param voice - A frame as for `gather`; copied.
   */
  whisper(voice: Int16Array): void {
    for (const participant of this.#participants) participant.whisper(voice);
  }

  /** The call has another codec from now on. */
  changeRate(sampleRateHz: SampleRateHz): void {
    const length = frameLength(sampleRateHz);
    this.#sampleRateHz = sampleRateHz;
    this.#caller = new Int16Array(length);
    this.#voices = new Int32Array(length);
    this.#sum = new Int32Array(length);
    this.#heard = new Int16Array(length);
    this.#count = 0;
    for (const participant of this.#participants) participant.changeMixRate(sampleRateHz);
  }

  /** @returns True when the frame has a voice. */
  #add(voice: Int16Array): boolean {
    if (isSilent(voice)) return false;
    addVoice(this.#sum, voice);
    return true;
  }
}
