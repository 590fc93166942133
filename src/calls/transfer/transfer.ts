import { CallwayError } from '../../base/errors.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { CallEvent } from '../runner/callMachine.ts';
import { mayTryNextTrunk } from '../runner/callResult.ts';
import type { CallLeg, LegEnd } from '../telephony.ts';

/** By REFER the peer calls elsewhere itself; by a second leg we do, and join both. */
export type TransferMethod = 'refer' | 'second_leg';

export interface TransferDeps {
  /** The caller's. */
  readonly leg: CallLeg;
  readonly media: MediaSession;
  /** @throws {CallwayError} 403 where the project may not call. @see CallGuard */
  readonly requireDestination: (to: string) => Promise<void>;
  /** Absent where only the peer itself may call. @see secondLegs */
  readonly legsTo?: (to: string) => AsyncIterable<CallLeg>;
  readonly take: (event: CallEvent) => void;
  readonly note: (data: Readonly<Record<string, unknown>>) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** One transfer of a call. */
export interface Transfer {
  /** The call is over: whoever was called is let go. Resolves when they are. Idempotent. */
  cancel(): Promise<void>;
}

/**
 * Hands a caller over: by REFER where the peer takes it, else by a leg of our own. Until somebody answers there, the
 * caller hears it ring; once somebody has, both talk until either hangs up.
 *
 * @param to - A number, or a `sip:` or `tel:` URI.
 */
export function startTransfer(deps: TransferDeps, to: string): Transfer {
  const one = new RunningHandOver(deps, to);
  const over = one.run();
  return {
    async cancel() {
      one.leave();
      await over;
    },
  };
}

class RunningHandOver {
  readonly #deps: TransferDeps;
  readonly #to: string;
  #other: CallLeg | undefined;
  #isJoined = false;
  #isLeft = false;

  constructor(deps: TransferDeps, to: string) {
    this.#deps = deps;
    this.#to = to;
  }

  async run(): Promise<void> {
    const { leg, media, take, requireDestination } = this.#deps;
    this.#quietly(media.sendTransferStatus({ status: 'begun', to: this.#to }));
    try {
      await requireDestination(this.#to);
      take({ type: 'referring' });
      await leg.transfer(this.#to);
      this.#note('done', 'refer');
      return take({ type: 'transferred' });
    } catch (error) {
      if (!isUnsupported(error) || !this.#deps.legsTo) return this.#fail('refer', reasonOf(error));
    }
    if (this.#isLeft) return;
    take({ type: 'calling_other' });
    try {
      const end = await this.#callOther();
      if (this.#isJoined) take({ type: 'transferred' });
      else this.#fail('second_leg', whyNot(end, this.#isLeft));
    } catch (error) {
      const isForbidden = error instanceof CallwayError && error.category === 'rate_limited';
      if (!isForbidden) this.#deps.onError(error, 'a transfer failed');
      this.#fail('second_leg', isForbidden ? error.message : 'it could not be called');
    }
  }

  leave(): void {
    this.#isLeft = true;
    this.#hangUpOther();
  }

  /** @returns How the last leg ended; undefined where no trunk had room. */
  async #callOther(): Promise<LegEnd | undefined> {
    let end: LegEnd | undefined;
    for await (const other of this.#deps.legsTo?.(this.#to) ?? []) {
      end = await this.#follow(other);
      if (this.#isLeft || this.#isJoined || !mayTryNextTrunk(end)) break;
    }
    return end;
  }

  #follow(other: CallLeg): Promise<LegEnd> {
    this.#other = other;
    const { events } = other;
    return new Promise((resolve) => {
      events.on('ringing', ({ hasEarlyMedia }) => this.#ring(hasEarlyMedia ? other.media : undefined));
      events.on('answered', () => void this.#join(other));
      events.on('ended', (end) => {
        this.#other = undefined;
        resolve(end);
      });
      if (this.#isLeft) this.#hangUpOther();
    });
  }

  /** @param audible - What the other side plays itself before it answers. */
  #ring(audible: MediaSession | undefined): void {
    const { media } = this.#deps;
    this.#quietly(audible ? media.bridge(audible) : media.startRingback());
  }

  async #join(other: CallLeg): Promise<void> {
    const { media, take, onError } = this.#deps;
    const others = other.media;
    try {
      if (!others) throw new Error('the other leg has no audio');
      await media.bridge(others);
      // Who hung up while the two were being joined is nobody to leave the caller with.
      if (this.#isLeft || this.#other !== other) return;
      others.events.on('mediaTimeout', () => take({ type: 'hang_up', intent: 'media_timeout' }));
      others.events.on('lost', () => this.#hangUpOther());
      this.#isJoined = true;
      this.#note('done', 'second_leg');
      take({ type: 'joined' });
    } catch (error) {
      onError(error, 'two calls were not joined');
      this.#hangUpOther();
    }
  }

  #fail(by: TransferMethod, reason: string): void {
    const { media, take } = this.#deps;
    this.#note('failed', by, reason);
    if (!this.#isLeft) {
      this.#quietly(media.unbridge());
      this.#quietly(media.sendTransferStatus({ status: 'failed', to: this.#to, reason }));
    }
    take({ type: 'transfer_failed' });
  }

  #hangUpOther(): void {
    this.#other?.hangup().catch((error: unknown) => this.#deps.onError(error, 'a leg was not hung up'));
  }

  #note(status: 'done' | 'failed', by: TransferMethod, reason?: string): void {
    this.#deps.note({ to: this.#to, status, by, ...(reason === undefined ? {} : { reason }) });
  }

  /** A call that ends meanwhile has no audio to be told anything. */
  #quietly(done: Promise<void>): void {
    done.catch((error: unknown) => {
      if (!this.#isLeft) this.#deps.onError(error, 'the audio of a transfer was not set');
    });
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof CallwayError && error.code === 'transfer_unsupported';
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}

function whyNot(end: LegEnd | undefined, isLeft: boolean): string {
  if (isLeft) return 'the caller hung up';
  if (!end) return 'no trunk of the number has room for another call';
  const { outcome, sip } = end;
  return sip ? `${outcome}: ${sip.code} ${sip.reason}` : outcome;
}
