import { mixInto } from '../pcm16.ts';
import type { BridgePeer } from './callBridge.ts';

/**
 * The parties that are recorded in a call's file although its caller does not hear them, and where this party is
 * recorded in that way.
 */
export class AsideRecording {
  readonly #parties = new Map<AsideRecording, BridgePeer>();
  #recordedAt: { readonly recording: AsideRecording; readonly peer: BridgePeer } | undefined;

  get isEmpty(): boolean {
    return this.#parties.size === 0;
  }

  /** Records the other party here from now on, and nowhere else. */
  add(party: AsideRecording, [own, peer]: readonly [own: BridgePeer, party: BridgePeer]): void {
    party.end();
    party.#recordedAt = { recording: this, peer };
    this.#parties.set(party, own);
  }

  /** Adds this party's voice and what it hears to the recording. @param scratch - A buffer that is overwritten. */
  send(caller: Int16Array, agent: Int16Array, scratch: Int16Array): void {
    if (!this.#recordedAt) return;
    scratch.set(caller);
    mixInto(scratch, agent);
    this.#recordedAt.peer.send(scratch);
  }

  /** Adds what the parties sent. @param scratch - Overwritten. */
  mixInto(frame: Int16Array, scratch: Int16Array): void {
    for (const peer of this.#parties.values()) if (peer.pull(scratch)) mixInto(frame, scratch);
  }

  changeRate(sampleRateHz: Parameters<BridgePeer['changeRate']>[0]): void {
    this.#recordedAt?.peer.changeRate(sampleRateHz);
    for (const peer of this.#parties.values()) peer.changeRate(sampleRateHz);
  }

  /** Ends the recording of this party with another call. */
  end(): void {
    if (!this.#recordedAt) return;
    const { recording, peer } = this.#recordedAt;
    recording.#parties.delete(this);
    peer.close();
    this.#recordedAt = undefined;
  }
}
