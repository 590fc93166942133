import type { CurrentNode } from '../../engine/turn/delivery.ts';
import type { NoiseSuppression, NoiseSuppressor } from '../../models/ports/noiseSuppression.ts';

export interface CallNoiseDeps {
  /** Suppresses noise; undefined on an installation that never does. */
  readonly noiseSuppression?: NoiseSuppression | undefined;
  /** The setting of the call's number, which takes precedence over the agent's. */
  readonly ofNumber?: boolean | undefined;
  readonly sampleRateHz: number;
  readonly onError: (error: unknown, message: string) => void;
}

/** Removes the noise of one call at the nodes that want it. */
export class CallNoise {
  readonly #deps: CallNoiseDeps;
  #isWanted = false;
  #suppressor: NoiseSuppressor | undefined;

  constructor(deps: CallNoiseDeps) {
    this.#deps = deps;
  }

  onNode({ node, speech }: CurrentNode): void {
    const { noiseSuppression, ofNumber, sampleRateHz, onError } = this.#deps;
    const isWanted = node.data.speech?.noiseSuppression ?? ofNumber ?? speech.noiseSuppression ?? false;
    if (!noiseSuppression || isWanted === this.#isWanted) return;
    this.close();
    this.#isWanted = isWanted;
    if (!isWanted) return;
    noiseSuppression.open(sampleRateHz).then(
      (suppressor) => {
        if (this.#isWanted && !this.#suppressor) this.#suppressor = suppressor;
        else suppressor.close();
      },
      (error: unknown) => onError(error, 'noise suppression not available'),
    );
  }

  /** @returns The frame as it was while nothing is suppressed; valid until the next call. */
  clean(frame: Int16Array): Int16Array {
    return this.#suppressor?.process(frame) ?? frame;
  }

  close(): void {
    this.#isWanted = false;
    this.#suppressor?.close();
    this.#suppressor = undefined;
  }
}
