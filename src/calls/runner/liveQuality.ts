import type { Clock } from '../../base/clock.ts';
import type { MakeId } from '../../base/ids.ts';
import type { MediaQuality } from '../../media/mediaQuality.ts';
import type { Call } from '../call.ts';
import type { NodeBus } from '../nodes/nodeBus.ts';

/** A node answers within milliseconds, unless it has failed. */
const ANSWER_TIMEOUT_MS = 1000;

export interface LiveQualityDeps {
  readonly bus: NodeBus;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly onError: (error: unknown, what: string) => void;
}

/** Reads the media quality of calls in progress, so far, from whichever nodes run them. */
export class LiveQuality {
  readonly #deps: LiveQualityDeps;
  readonly #waiting = new Map<string, (quality: MediaQuality | null) => void>();
  readonly #unsubscribe: () => void;

  constructor(deps: LiveQualityDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.bus.subscribe((message) => {
      if (message.kind === 'quality') this.#waiting.get(message.requestId)?.(message.quality);
    });
  }

  /** @returns As stored for other calls; null where the node does not answer. */
  async of({ id: callId, status, mediaQuality }: Call): Promise<MediaQuality | null> {
    if (status !== 'in_progress') return mediaQuality;
    const { bus, clock, makeId, onError } = this.#deps;
    const requestId = makeId();
    return await new Promise((resolve) => {
      const answer = (quality: MediaQuality | null) => {
        timer.cancel();
        this.#waiting.delete(requestId);
        resolve(quality);
      };
      const timer = clock.setTimer(() => answer(null), ANSWER_TIMEOUT_MS);
      this.#waiting.set(requestId, answer);
      bus.publish({ kind: 'read_quality', callId, requestId }).catch((error: unknown) => {
        onError(error, 'media quality of a call not requested');
        answer(null);
      });
    });
  }

  /** Idempotent. */
  close(): void {
    this.#unsubscribe();
    for (const answer of this.#waiting.values()) answer(null);
  }
}
