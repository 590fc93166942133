/** What a simulated caller says, and how. */
export interface CallerBehaviour {
  /** µ-law, whole packets of 160 bytes. */
  readonly utterance: Uint8Array;
  /** Interrupt every n-th answer; 0 is none. */
  readonly cutsIntoEach: number;
}

/** From the caller's last voiced packet to the agent's first, on the clock of the phones. */
export interface HeardTurn {
  readonly saidMs: number;
  readonly heardMs: number;
}

/** A pause after which the caller may speak. */
const QUIET_MS = 500;
/** How far into an answer the interruption starts. */
const CUT_IN_AFTER_MS = 800;
const SILENCE = 0xff;

/**
 * One caller, packet by packet: waits until the agent has spoken, says its words, and waits for the answer or interrupts
 * it.
 */
export class BenchCaller {
  readonly heardTurns: HeardTurn[] = [];
  readonly #manner: CallerBehaviour;
  #turns = 0;
  /** Position in the utterance; undefined while listening. */
  #at: number | undefined;
  #saidMs: number | undefined;
  #lastVoicedMs = 0;
  #soundingSinceMs: number | undefined;
  #soundedMs = 0;
  #hasHeard = false;

  constructor(manner: CallerBehaviour) {
    this.#manner = manner;
  }

  hear(payload: Uint8Array, nowMs: number): void {
    if (!isVoiced(payload)) return;
    if (this.#soundingSinceMs === undefined || nowMs - this.#soundedMs > QUIET_MS)
      this.#soundingSinceMs = nowMs;
    this.#soundedMs = nowMs;
    this.#hasHeard = true;
    if (this.#saidMs === undefined) return;
    this.heardTurns.push({ saidMs: this.#saidMs, heardMs: nowMs });
    this.#saidMs = undefined;
    this.#turns += 1;
  }

  /** Fills the next 20 ms. */
  speak(payload: Uint8Array, nowMs: number): void {
    if (this.#at === undefined && this.#mayBegin(nowMs)) this.#at = 0;
    if (this.#at === undefined) {
      payload.fill(SILENCE);
      return;
    }
    const { utterance } = this.#manner;
    const piece = utterance.subarray(this.#at, this.#at + payload.length);
    payload.set(piece);
    if (isVoiced(piece)) this.#lastVoicedMs = nowMs;
    this.#at += payload.length;
    if (this.#at < utterance.length) return;
    this.#at = undefined;
    this.#saidMs = this.#lastVoicedMs;
    this.#hasHeard = false;
    this.#soundingSinceMs = undefined;
  }

  #mayBegin(nowMs: number): boolean {
    if (!this.#hasHeard || this.#saidMs !== undefined) return false;
    if (nowMs - this.#soundedMs >= QUIET_MS) return true;
    const { cutsIntoEach } = this.#manner;
    const cutsIn = cutsIntoEach > 0 && this.#turns % cutsIntoEach === cutsIntoEach - 1;
    return cutsIn && this.#soundingSinceMs !== undefined && nowMs - this.#soundingSinceMs >= CUT_IN_AFTER_MS;
  }
}

/** Whether a packet is louder than line noise. */
function isVoiced(payload: Uint8Array): boolean {
  return payload.some((sample) => (~sample & 0x7f) > 0x28);
}
