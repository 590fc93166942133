import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { Clock } from '../base/values/clock.ts';
import { DELIVERY_TIMEOUT_MS } from './delivery.ts';
import { claimSend, SENDER_LEASE_MS } from './outbox.ts';
import type { OutboxStore } from './outboxStore.ts';

/** A claim that takes longer must not be used: its sender might count as lost before the delivery ends. */
const MAX_CLAIM_MS = SENDER_LEASE_MS - 2 * DELIVERY_TIMEOUT_MS;

/** The outcome of a claim. */
export type SendClaimOutcome =
  /** The delivery ended before it claimed the event. */
  | { readonly type: 'not_requested' }
  /** Another node has the event. */
  | { readonly type: 'refused' }
  /** The claim came too late; nothing was sent on it. */
  | { readonly type: 'unused'; readonly attempt: number; readonly requestedMs: number }
  | { readonly type: 'used'; readonly attempt: number; readonly requestedMs: number };

/** The right of one delivery to send an event, which only one of several nodes gets. */
export class SendClaim {
  readonly #deps: { readonly outbox: OutboxStore; readonly clock: Clock };
  readonly #instanceId: string;
  readonly #event: WebhookEventName;
  #request: { readonly requestedMs: number; readonly attempt: Promise<number | undefined> } | undefined;
  #isOver = false;
  #isUsed = false;

  constructor(
    deps: { readonly outbox: OutboxStore; readonly clock: Clock },
    instanceId: string,
    event: WebhookEventName,
  ) {
    this.#deps = deps;
    this.#instanceId = instanceId;
    this.#event = event;
  }

  /**
   * Resolves once the claim is committed, and uses it: the caller writes the last byte in the same tick.
   *
   * @throws {Error} When another node has the event, or the claim comes too late.
   */
  async acquire(): Promise<void> {
    const { outbox, clock } = this.#deps;
    const requestedMs = clock.monotonicMs();
    const attempt = outbox.advance(this.#instanceId, (now) => claimSend(now, this.#event, clock.now()));
    this.#request = { requestedMs, attempt };
    if ((await attempt) === undefined) throw new Error('another node sends this event');
    if (this.#isOver || clock.monotonicMs() - requestedMs > MAX_CLAIM_MS) {
      throw new Error('the claim to send this event came too late');
    }
    this.#isUsed = true;
  }

  /**
   * Ends the delivery, after which the claim is not used any more, and waits for a claim in progress.
   *
   * @throws What the outbox threw; the claim may be committed then, but it was not used.
   */
  async outcome(): Promise<SendClaimOutcome> {
    this.#isOver = true;
    if (!this.#request) return { type: 'not_requested' };
    const { requestedMs } = this.#request;
    const attempt = await this.#request.attempt;
    if (attempt === undefined) return { type: 'refused' };
    return { type: this.#isUsed ? 'used' : 'unused', attempt, requestedMs };
  }
}
