import type { WebhookEventName } from '../agents/agentConfig.ts';

/**
 * - `waiting`: its fact is not known yet.
 * - `ready`: its fact is known; it is sent when every event before it is settled or expired.
 * - `sending`: a sender has claimed it, and may have sent it.
 * - `settled`: nothing more will be sent; `outcome` says why.
 * - `expired`: the finalize timeout came before its fact; it will never be sent.
 */
export type GateStatus = 'waiting' | 'ready' | 'sending' | 'settled' | 'expired';

/**
 * `delivered` and `failed` are the receiver's answer, or its lack; `skipped` was not subscribed to; `unknown` is a
 * `session.finalized` whose sender failed after its claim.
 */
export type GateOutcome = 'delivered' | 'failed' | 'skipped' | 'unknown';

/** One expected event of one ended session, stored as one row. */
export interface GateRow {
  readonly event: WebhookEventName;
  readonly subscribed: boolean;
  readonly status: GateStatus;
  /** The outcome, set exactly when `settled`. */
  readonly outcome: GateOutcome | null;
  /** The number of times that sending was claimed. Reports on an earlier attempt are ignored. */
  readonly attempt: number;
}

export type GateEvent =
  /** The call has ended, the recording is stored; for `session.finalized`, the session is judged. */
  | { readonly type: 'fact_ready'; readonly name: WebhookEventName }
  /** A sender claims the event; the claim counts only if the row becomes `sending`. */
  | { readonly type: 'send_claimed'; readonly name: WebhookEventName }
  /** The receiver answered, or did not; or the event could not be made. */
  | {
      readonly type: 'delivery_settled';
      readonly name: WebhookEventName;
      readonly attempt: number;
      readonly outcome: 'delivered' | 'failed';
    }
  /** A sender has a claim for this attempt, and another one may send the event. */
  | { readonly type: 'claim_released'; readonly name: WebhookEventName; readonly attempt: number }
  /** A sender was silent for longer than any delivery can take. */
  | { readonly type: 'sender_lost'; readonly name: WebhookEventName; readonly attempt: number }
  | { readonly type: 'finalize_timeout' };

const FINAL = 'session.finalized';

/**
 * Decides which webhook of an ended session is sent when, so that `session.finalized` comes last and at most once.
 *
 * ```text
 *            fact_ready            send_claimed               delivery_settled
 *  waiting ─────────────▶ ready ───────────────────▶ sending ──────────────────▶ settled
 *     │                   │   ▲   (next in order)       │                          ▲
 *     │ finalize_timeout  │   │     claim_released,     │  sender_lost             │
 *     │ (earlier events)  │   └─────────────────────────┤  (session.finalized)     │
 *     ▼                   │ sender_lost (earlier ones)  └──────────────────────────┤
 *  expired                └────────────────────────────────────────────────────────┘
 *                            next in order, but not subscribed, or failed before its claim
 *
 *  waiting ─── finalize_timeout ──▶ ready      session.finalized itself: it is sent without what the models say
 * ```
 *
 * An event is next in order when every event before it is settled or expired. Both are final, so once
 * `session.finalized` is next, nothing else of that session can be sent. Events without a subscription are waited for
 * and settle unsent, so that `session.finalized` holds the data of all others even when it is the only one.
 *
 * The timeout expires what is still `waiting`, a late `recording.ready` too: sent after `session.finalized` it would break
 * the order. What is `ready` or `sending` by then goes out first, within seconds. Without a subscription to
 * `session.finalized` nothing expires.
 *
 * The caller loads the rows under a lock on the session, applies the event, stores the changed rows and commits. That
 * makes `send_claimed` one conditional update, `ready` to `sending`, which one of several racing nodes wins. The winner
 * sends the event.
 *
 * When a node fails before the commit of `send_claimed`, the row is `ready` and provably nothing was sent: any node may
 * send it. When it fails after it, the event may have been sent or not. Once the attempt's lease has expired,
 * `sender_lost` lets an earlier event be sent again, which receivers tell by its `webhook-id`; but `session.finalized` is
 * given up as `unknown`, since at most once allows losing it and not sending it twice. Its data stay in the history.
 *
 * @param rows - The rows in the order of sending; `session.ended` is first, `session.finalized` last.
 * @returns The same array when the event changes nothing.
 */
export function transitionGate<Row extends GateRow>(rows: readonly Row[], event: GateEvent): readonly Row[] {
  const changed = apply(rows, event);
  return changed === rows ? rows : skipUnsubscribed(changed);
}

/** The event to send now, if any. */
export function dueRow<Row extends GateRow>(rows: readonly Row[]): Row | undefined {
  const next = nextRow(rows);
  return next?.status === 'ready' ? next : undefined;
}

/** Whether the timeout still matters: to `session.finalized` itself, and to events before one that will be sent. */
export function awaitsTimeout(rows: readonly GateRow[]): boolean {
  return rows.some(({ event, status }) => status === 'waiting' && (event === FINAL || isSent(rows)));
}

/** Whether nothing more can happen. */
export function isGateDone(rows: readonly GateRow[]): boolean {
  return nextRow(rows) === undefined;
}

function apply<Row extends GateRow>(rows: readonly Row[], event: GateEvent): readonly Row[] {
  switch (event.type) {
    case 'fact_ready':
      return change(rows, event.name, ({ status }) =>
        status === 'waiting' ? { status: 'ready' } : undefined,
      );
    case 'send_claimed':
      return change(rows, event.name, (row) =>
        row === dueRow(rows) ? { status: 'sending', attempt: row.attempt + 1 } : undefined,
      );
    case 'delivery_settled':
      return change(rows, event.name, (row) =>
        row === nextRow(rows) && row.status !== 'waiting' && row.attempt === event.attempt
          ? { status: 'settled', outcome: event.outcome }
          : undefined,
      );
    case 'claim_released':
      return change(rows, event.name, (row) =>
        row.status === 'sending' && row.attempt === event.attempt ? { status: 'ready' } : undefined,
      );
    case 'sender_lost':
      return change(rows, event.name, (row) => {
        if (row.status !== 'sending' || row.attempt !== event.attempt) return undefined;
        return row.event === FINAL ? { status: 'settled', outcome: 'unknown' } : { status: 'ready' };
      });
    case 'finalize_timeout':
      if (!awaitsTimeout(rows)) return rows;
      return rows.map((row) => (row.event === FINAL || isSent(rows) ? expire(row) : row));
    default:
      return event satisfies never;
  }
}

function isSent(rows: readonly GateRow[]): boolean {
  return rows.at(-1)?.subscribed === true;
}

function expire<Row extends GateRow>(row: Row): Row {
  if (row.status !== 'waiting') return row;
  return { ...row, status: row.event === FINAL ? 'ready' : 'expired' };
}

/** Settles, from the next event on, what is ready but was not subscribed to. */
function skipUnsubscribed<Row extends GateRow>(rows: readonly Row[]): readonly Row[] {
  const due = dueRow(rows);
  if (!due || due.subscribed) return rows;
  return skipUnsubscribed(change(rows, due.event, () => ({ status: 'settled', outcome: 'skipped' })));
}

function change<Row extends GateRow>(
  rows: readonly Row[],
  name: WebhookEventName,
  update: (row: Row) => Partial<Pick<GateRow, 'status' | 'outcome' | 'attempt'>> | undefined,
): readonly Row[] {
  const index = rows.findIndex(({ event }) => event === name);
  const row = rows[index];
  const fields = row && update(row);
  return row && fields ? rows.with(index, { ...row, ...fields }) : rows;
}

function nextRow<Row extends GateRow>(rows: readonly Row[]): Row | undefined {
  return rows.find(({ status }) => status !== 'settled' && status !== 'expired');
}
