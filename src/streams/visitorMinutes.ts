import type { WidgetMinutes } from '../agents/accounts/widgetToken.ts';
import type { Clock, Timer } from '../base/values/clock.ts';
import type { StreamVisitor } from './streamTickets.ts';

/** Paid for in advance, so that streams at the same time do not exceed the minutes together. A revocation is noticed after it. */
const SLICE_MS = 20_000;

export interface VisitorMinutesDeps {
  readonly minutes: WidgetMinutes;
  readonly clock: Clock;
  /** There are no minutes left, or the token is not valid any more. */
  readonly onUsedUp: () => void;
  readonly onError: (error: unknown) => void;
}

/** Uses up the minutes of a visitor's token while its stream is open. */
export class VisitorMinutes {
  readonly #deps: VisitorMinutesDeps;
  readonly #tokenId: string;
  #timer: Timer | undefined;
  #paidUntilMs: number;
  #isClosed = false;

  constructor({ tokenId }: StreamVisitor, deps: VisitorMinutesDeps) {
    this.#deps = deps;
    this.#tokenId = tokenId;
    this.#paidUntilMs = deps.clock.monotonicMs();
    void this.#takeNext();
  }

  /** Gives back what was not used. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    const { minutes, clock, onError } = this.#deps;
    const leftMs = this.#paidUntilMs - clock.monotonicMs();
    if (leftMs > 0) await minutes.giveBack(this.#tokenId, leftMs, new Date(clock.now())).catch(onError);
  }

  async #takeNext(): Promise<void> {
    const { minutes, clock, onUsedUp, onError } = this.#deps;
    const fromMs = clock.monotonicMs();
    const takenMs = await minutes.take(this.#tokenId, SLICE_MS, new Date(clock.now())).catch((error) => {
      onError(error);
      return undefined;
    });
    if (takenMs !== undefined) this.#paidUntilMs = fromMs + takenMs;
    if (this.#isClosed) {
      if (takenMs) await minutes.giveBack(this.#tokenId, takenMs, new Date(clock.now())).catch(onError);
      return;
    }
    if (takenMs === 0) return onUsedUp();
    // While the database is unavailable nothing is counted, as in other voice sessions.
    this.#timer = clock.setTimer(() => void this.#takeNext(), takenMs ?? SLICE_MS);
  }
}
