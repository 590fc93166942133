import { readTransferTarget } from '../../agents/transferTarget.ts';
import { CallwayError } from '../../base/errors.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { CallEvent } from '../runner/callMachine.ts';
import { mayTryNextTrunk } from '../runner/callResult.ts';
import type { CallLeg, LegEnd } from '../telephony.ts';

/** By REFER the peer calls the target itself; with a second leg we call it and bridge both. */
type TransferMethod = 'refer' | 'second_leg';

export interface TransferDeps {
  /** The caller's. */
  readonly leg: Pick<CallLeg, 'refer'>;
  readonly media: MediaSession;
  /** @throws {CallwayError} 422 when the project may not call the target. */
  readonly requireAllowedDestination: (to: string) => Promise<void>;
  /** Absent where only the peer may call the target. @see dialTransferTarget */
  readonly dialTarget?: (to: string) => AsyncIterable<CallLeg>;
  readonly dispatch: (event: CallEvent) => void;
  /** For the call's history and log. */
  readonly onOutcome: (outcome: TransferOutcome) => void;
  readonly onError: (error: unknown, what: string) => void;
}

export type TransferOutcome = {
  readonly to: string;
  readonly status: 'done' | 'failed';
  readonly by: TransferMethod;
  readonly reason?: string;
};

/** A transfer in progress. */
export interface Transfer {
  /** Hangs up the target, since the call ends. Resolves when it is hung up. Idempotent. */
  cancel(): Promise<void>;
}

/**
 * Transfers a call: by REFER where the peer accepts it, else by a second leg. The caller hears ringback until the target
 * answers; then both are bridged until either hangs up.
 *
 * @param to - A number, or a `sip:` or `tel:` URI.
 */
export function startTransfer(deps: TransferDeps, to: string): Transfer {
  const transfer = new RunningTransfer(deps, to);
  const ended = transfer.run();
  return {
    async cancel() {
      transfer.cancel();
      await ended;
    },
  };
}

class RunningTransfer {
  readonly #deps: TransferDeps;
  readonly #to: string;
  #target: CallLeg | undefined;
  #isBridged = false;
  #isCanceled = false;

  constructor(deps: TransferDeps, to: string) {
    this.#deps = deps;
    // A model, a bot or the peer may have chosen it. A number stays as it was given, for trunks that want that.
    this.#to = /^sips?:/i.test(to) ? (readTransferTarget(to) ?? to.replace(/\?.*$/s, '')) : to;
  }

  async run(): Promise<void> {
    const { leg, media, dispatch, requireAllowedDestination } = this.#deps;
    this.#quietly(media.sendTransferStatus({ status: 'begun', to: this.#to }));
    try {
      await requireAllowedDestination(this.#to);
      dispatch({ type: 'transfer_referring' });
      await leg.refer(this.#to);
      this.#report('done', 'refer');
      return dispatch({ type: 'transfer_done' });
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      if (!isUnsupported(error) || !this.#deps.dialTarget) return this.#fail('refer', reason);
    }
    if (this.#isCanceled) return;
    dispatch({ type: 'transfer_dialing' });
    try {
      const end = await this.#dialTarget();
      if (this.#isBridged) dispatch({ type: 'transfer_done' });
      else this.#fail('second_leg', failureReason(end, this.#isCanceled));
    } catch (error) {
      const isRefused = error instanceof CallwayError && error.category === 'rate_limited';
      if (!isRefused) this.#deps.onError(error, 'transfer failed');
      this.#fail('second_leg', isRefused ? error.message : 'it could not be called');
    }
  }

  cancel(): void {
    this.#isCanceled = true;
    this.#hangUpTarget();
  }

  /** @returns How the last leg ended; undefined when no trunk had a free channel. */
  async #dialTarget(): Promise<LegEnd | undefined> {
    let end: LegEnd | undefined;
    for await (const target of this.#deps.dialTarget?.(this.#to) ?? []) {
      end = await this.#follow(target);
      if (this.#isCanceled || this.#isBridged || !mayTryNextTrunk(end)) break;
    }
    return end;
  }

  #follow(target: CallLeg): Promise<LegEnd> {
    this.#target = target;
    const { events } = target;
    return new Promise((resolve) => {
      events.on('ringing', ({ hasEarlyMedia }) => this.#ringback(hasEarlyMedia ? target.media : undefined));
      events.on('answered', () => void this.#bridge(target));
      events.on('ended', (end) => {
        this.#target = undefined;
        resolve(end);
      });
      if (this.#isCanceled) this.#hangUpTarget();
    });
  }

  /** @param earlyMedia - Heard instead of our ringback where the target's side plays its own. */
  #ringback(earlyMedia: MediaSession | undefined): void {
    const { media } = this.#deps;
    this.#quietly(earlyMedia ? media.bridge(earlyMedia) : media.startRingback());
  }

  async #bridge(target: CallLeg): Promise<void> {
    const { media, dispatch, onError } = this.#deps;
    try {
      if (!target.media) throw new Error('the target leg has no media session');
      await media.bridge(target.media);
      // The target hung up while it was being bridged.
      if (this.#isCanceled || this.#target !== target) return;
      target.media.events.on('mediaTimeout', () => dispatch({ type: 'hang_up', intent: 'media_timeout' }));
      target.media.events.on('lost', () => this.#hangUpTarget());
      this.#isBridged = true;
      this.#report('done', 'second_leg');
      dispatch({ type: 'transfer_bridged' });
    } catch (error) {
      onError(error, 'transfer target not bridged');
      this.#hangUpTarget();
    }
  }

  #fail(by: TransferMethod, reason: string): void {
    const { media, dispatch } = this.#deps;
    this.#report('failed', by, reason);
    if (!this.#isCanceled) {
      this.#quietly(media.unbridge());
      this.#quietly(media.sendTransferStatus({ status: 'failed', to: this.#to, reason }));
    }
    dispatch({ type: 'transfer_failed' });
  }

  #hangUpTarget(): void {
    this.#target
      ?.hangup()
      .catch((error: unknown) => this.#deps.onError(error, 'transfer target not hung up'));
  }

  #report(status: 'done' | 'failed', by: TransferMethod, reason?: string): void {
    this.#deps.onOutcome({ to: this.#to, status, by, ...(reason === undefined ? {} : { reason }) });
  }

  /** A call that ends meanwhile has no media session any more. */
  #quietly(done: Promise<void>): void {
    done.catch((error: unknown) => {
      if (!this.#isCanceled) this.#deps.onError(error, 'transfer: media session not updated');
    });
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof CallwayError && error.code === 'transfer_unsupported';
}

function failureReason(end: LegEnd | undefined, isCanceled: boolean): string {
  if (isCanceled) return 'the caller hung up';
  if (!end) return 'no trunk of the number has room for another call';
  const { outcome, sip } = end;
  return sip ? `${outcome}: ${sip.code} ${sip.reason}` : outcome;
}
