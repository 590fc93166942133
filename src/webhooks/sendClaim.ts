import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { Clock } from '../base/clock.ts';
import { DELIVERY_TIMEOUT_MS } from './delivery.ts';
import { claimSend, SENDER_LEASE_MS } from './outbox.ts';
import type { OutboxStore } from './outboxStore.ts';

/** Whoever got leave to send, and then stood still for so long, must leave it: it might count as lost before its end. */
const LATEST_USE_MS = SENDER_LEASE_MS - 2 * DELIVERY_TIMEOUT_MS;

/** What came of asking for leave to send. */
export type SendClaimOutcome =
  /** The delivery was over before it came so far. */
  | { readonly type: 'unasked' }
  /** Another node has it. */
  | { readonly type: 'refused' }
  /** It came too late; nothing was sent on it. */
  | { readonly type: 'unused'; readonly attempt: number; readonly askedMs: number }
  | { readonly type: 'used'; readonly attempt: number; readonly askedMs: number };

/** Leave to send one event, as one delivery asks for it. */
export interface SendClaim {
  /**
   * Resolves once it is committed, and is then used: the last byte is to be written in the same tick.
   *
   * @throws Where another node has it, or it came too late.
   */
  acquire(): Promise<void>;
  /**
   * Tells that the delivery is over, and waits for what was asked: it is not used from here on.
   *
   * @throws What the outbox threw; whether there is leave is then unknown, but it was not used.
   */
  outcome(): Promise<SendClaimOutcome>;
}

export function createSendClaim(
  { outbox, clock }: { readonly outbox: OutboxStore; readonly clock: Clock },
  instanceId: string,
  event: WebhookEventName,
): SendClaim {
  let asked: { readonly askedMs: number; readonly given: Promise<number | undefined> } | undefined;
  let isOver = false;
  let isUsed = false;
  return {
    async acquire() {
      const askedMs = clock.monotonicMs();
      asked = { askedMs, given: outbox.advance(instanceId, (now) => claimSend(now, event, clock.now())) };
      if ((await asked.given) === undefined) throw new Error('another node has leave to send');
      if (isOver || clock.monotonicMs() - askedMs > LATEST_USE_MS) {
        throw new Error('leave to send came too late to be used');
      }
      isUsed = true;
    },
    async outcome() {
      isOver = true;
      if (!asked) return { type: 'unasked' };
      const { askedMs, given } = asked;
      const attempt = await given;
      if (attempt === undefined) return { type: 'refused' };
      return { type: isUsed ? 'used' : 'unused', attempt, askedMs };
    },
  };
}
