import type { WebhookEventName } from '../agents/agentConfig.ts';
import { CallwayError } from '../base/errors.ts';
import { WEBHOOK_EVENT_NAMES } from './events.ts';

const FINAL = 'session.finalized';

/**
 * - `waiting`: its fact is not known yet.
 * - `ready`: its fact is known; it is sent when every event before it is settled or expired.
 * - `sending`: a sender may have written the last byte, without which nothing is sent.
 * - `settled`: nothing more will be sent; `outcome` says why.
 * - `expired`: the backstop came before its fact; it will never be sent.
 */
export type GateStatus = 'waiting' | 'ready' | 'sending' | 'settled' | 'expired';

/**
 * `delivered` and `failed` are the receiver's answer, or its lack; `skipped` was not subscribed to; `unknown` is a
 * `session.finalized` whose sender was lost once it had leave to send.
 */
export type GateOutcome = 'delivered' | 'failed' | 'skipped' | 'unknown';

/** One expected event of one session: one row of a table, whose key is session and event. */
export interface GateRow {
  readonly event: WebhookEventName;
  readonly subscribed: boolean;
  readonly status: GateStatus;
  /** Set exactly when `settled`. */
  readonly outcome: GateOutcome | null;
  /** How often sending was begun. What is told of an earlier attempt is ignored. */
  readonly attempt: number;
}

/** Expected events but the last. */
export type EarlierEventName = Exclude<WebhookEventName, typeof FINAL>;

/** A session that goes on; `known` are the facts that came before its end, such as the end of its call. */
export interface LiveGate {
  readonly phase: 'live';
  readonly known: readonly WebhookEventName[];
}

export interface EndedGate {
  readonly phase: 'ended';
  /** When the backstop is due, in milliseconds since the Unix epoch. */
  readonly finalizeByMs: number;
  /** In the order of sending; `session.ended` first, `session.finalized` last. */
  readonly rows: readonly GateRow[];
}

export type GateState = LiveGate | EndedGate;

export interface SessionEnded {
  readonly type: 'session_ended';
  /** @see expectedEvents of the conversation room */
  readonly expected: readonly WebhookEventName[];
  readonly subscribed: readonly WebhookEventName[];
  /** Whether `session.finalized` has to wait for an evaluation, until `fact_ready` names it. */
  readonly evaluating: boolean;
  /** The session's end and FINALIZE_TIMEOUT_SECONDS. */
  readonly finalizeByMs: number;
}

export type GateEvent =
  | SessionEnded
  /** What the event reports is known: the call's end, the recording's outcome; for the last one, the evaluation. */
  | { readonly type: 'fact_ready'; readonly name: WebhookEventName }
  /** A sender has sent all but the last byte, and asks for leave; it may go on only when the answer is the effect `send`. */
  | { readonly type: 'delivery_begun'; readonly name: WebhookEventName }
  /** The receiver answered, or did not, or the sender gave up before it began. `attempt` as in `send`, or the row's. */
  | {
      readonly type: 'delivery_settled';
      readonly name: WebhookEventName;
      readonly attempt: number;
      readonly outcome: 'delivered' | 'failed';
    }
  /** A sender had leave for this attempt, and certainly has not used it. */
  | { readonly type: 'leave_returned'; readonly name: WebhookEventName; readonly attempt: number }
  /** Nothing was heard of a sender for longer than any delivery can take. */
  | { readonly type: 'sender_lost'; readonly name: WebhookEventName; readonly attempt: number }
  | { readonly type: 'backstop_due' };

export type GateEffect =
  /** See to it that `backstop_due` is told at `atMs`. */
  | { readonly type: 'arm_backstop'; readonly atMs: number }
  /** It is this event's turn: send it but for its last byte, then ask by `delivery_begun`. */
  | { readonly type: 'deliver'; readonly name: EarlierEventName }
  /** All others are done: send `session.finalized` but for its last byte, then claim it by `delivery_begun`. */
  | { readonly type: 'claim_finalized' }
  /** Leave to send, given once per attempt: write the last byte, then tell `delivery_settled` with this attempt. */
  | { readonly type: 'send'; readonly name: WebhookEventName; readonly attempt: number };

export interface GateTransition {
  /** The same object when the event changed nothing. */
  readonly state: GateState;
  readonly effects: readonly GateEffect[];
}

export const liveGate: LiveGate = { phase: 'live', known: [] };

/**
 * Decides which webhook of an ended session is sent when, so that `session.finalized` comes last and at most once.
 *
 * ```text
 *            fact_ready            delivery_begun             delivery_settled
 *  waiting ─────────────▶ ready ───────────────────▶ sending ──────────────────▶ settled
 *     │                   │   ▲    (its turn only)      │                          ▲
 *     │ backstop_due      │   │     leave_returned,     │  sender_lost             │
 *     │ (earlier ones)    │   └─────────────────────────┤  (session.finalized)     │
 *     ▼                   │ sender_lost (earlier ones)  └──────────────────────────┤
 *  expired                └────────────────────────────────────────────────────────┘
 *                            its turn, but not subscribed, or failed before it asked for leave
 *
 *  waiting ─── backstop_due ──▶ ready      session.finalized itself: it goes out without its evaluation
 * ```
 *
 * Its turn: every event before it is settled or expired. Both are final, so once it is the turn of
 * `session.finalized`, nothing else of that session can ever be sent. Events that were not subscribed to are waited
 * for and settle unsent, so that `session.finalized` holds all of the others' data even when it is the only one.
 *
 * The backstop expires what is still `waiting`, a late `recording.ready` too: sent after `session.finalized` it would
 * break the promise that this one is the last, which then carries what is known of the recording. What is `ready` or
 * `sending` by then is no event still to come: it goes out first, in seconds. Without a subscriber of
 * `session.finalized` nothing expires, and an event of any age is still sent.
 *
 * Running it: load the rows of a session under a lock on the session, apply, write the changed rows, commit, and only
 * then do the effects. That makes `delivery_begun` one conditional update, `ready` to `sending`, which one of any
 * number of racing nodes wins. A sender asks for it as late as it can, with the connection open and the request written
 * but for the body's last byte: no receiver can take that for an event, and what fails before has certainly not been
 * sent. The last byte is written in the tick in which the commit is answered.
 *
 * When a node dies, any other does {@link pendingEffects} of the stored state:
 * - Before the commit of `delivery_begun`: the row is `ready`, and provably nothing was sent. Anybody may begin it,
 *   `session.finalized` too.
 * - After it: the last byte may have been written or not. Once the attempt's lease has run out (longer than any delivery
 *   can take), `sender_lost` lets an earlier event be sent again, which receivers tell by session and event; but
 *   `session.finalized` is given up as `unknown`. Of losing it and sending it twice, at most once means losing it. It is
 *   lost where the node dies between that commit and the last byte: while the database's answer is on its way. A death
 *   after that byte costs no more than the record of how it went. Its data stay in the session's history.
 */
export function transitionGate(state: GateState, event: GateEvent): GateTransition {
  const changed = apply(state, event);
  if (changed === state) return { state, effects: [] };
  const next = changed.phase === 'ended' ? { ...changed, rows: skipUnsubscribed(changed.rows) } : changed;
  const before = new Set(pendingEffects(state).map(({ type }) => type));
  const isNewTurn = turnOf(state)?.event !== turnOf(next)?.event;
  const effects = pendingEffects(next).filter(
    ({ type }) => !before.has(type) || (type === 'deliver' && isNewTurn),
  );
  const begun = event.type === 'delivery_begun' ? rowOf(next, event.name) : undefined;
  return {
    state: next,
    effects: begun ? [{ type: 'send', name: begun.event, attempt: begun.attempt }, ...effects] : effects,
  };
}

/** What a stored state asks for, for a node that takes a session over; to do it twice does no harm. */
export function pendingEffects(state: GateState): readonly GateEffect[] {
  if (state.phase === 'live') return [];
  const effects: GateEffect[] = [];
  if (isBackstopNeeded(state.rows)) effects.push({ type: 'arm_backstop', atMs: state.finalizeByMs });
  const turn = turnOf(state);
  if (turn?.status !== 'ready') return effects;
  effects.push(turn.event === FINAL ? { type: 'claim_finalized' } : { type: 'deliver', name: turn.event });
  return effects;
}

/** Whether nothing more can happen. */
export function isGateDone(state: GateState): boolean {
  return state.phase === 'ended' && turnOf(state) === undefined;
}

function apply(state: GateState, event: GateEvent): GateState {
  if (event.type === 'session_ended') return state.phase === 'live' ? end(state, event) : state;
  if (state.phase === 'live') return event.type === 'fact_ready' ? learn(state, event.name) : state;
  switch (event.type) {
    case 'fact_ready':
      return change(state, event.name, (row) =>
        row.status === 'waiting' ? { ...row, status: 'ready' } : row,
      );
    case 'delivery_begun':
      return change(state, event.name, (row) =>
        isTurn(state, row) && row.status === 'ready'
          ? { ...row, status: 'sending', attempt: row.attempt + 1 }
          : row,
      );
    case 'delivery_settled':
      return change(state, event.name, (row) =>
        isTurn(state, row) && row.status !== 'waiting' && row.attempt === event.attempt
          ? { ...row, status: 'settled', outcome: event.outcome }
          : row,
      );
    case 'leave_returned':
      return change(state, event.name, (row) =>
        row.status === 'sending' && row.attempt === event.attempt ? { ...row, status: 'ready' } : row,
      );
    case 'sender_lost':
      return change(state, event.name, (row) =>
        row.status === 'sending' && row.attempt === event.attempt ? lost(row) : row,
      );
    case 'backstop_due':
      return isBackstopNeeded(state.rows) ? { ...state, rows: state.rows.map(expire) } : state;
    default:
      return event satisfies never;
  }
}

function end(
  { known }: LiveGate,
  { expected, subscribed, evaluating, finalizeByMs }: SessionEnded,
): EndedGate {
  if (!expected.includes('session.ended') || !expected.includes(FINAL)) {
    throw new CallwayError('internal', 'gate_plan_invalid', `every session has session.ended and ${FINAL}`);
  }
  const isKnown = (event: WebhookEventName) =>
    event === 'session.ended' || known.includes(event) || (event === FINAL && !evaluating);
  const rows = WEBHOOK_EVENT_NAMES.filter((event) => expected.includes(event)).map(
    (event): GateRow => ({
      event,
      subscribed: subscribed.includes(event),
      status: isKnown(event) ? 'ready' : 'waiting',
      outcome: null,
      attempt: 0,
    }),
  );
  return { phase: 'ended', finalizeByMs, rows };
}

function learn(state: LiveGate, name: WebhookEventName): LiveGate {
  return state.known.includes(name) ? state : { ...state, known: [...state.known, name] };
}

function lost(row: GateRow): GateRow {
  return row.event === FINAL
    ? { ...row, status: 'settled', outcome: 'unknown' }
    : { ...row, status: 'ready' };
}

function expire(row: GateRow): GateRow {
  if (row.status !== 'waiting') return row;
  return { ...row, status: row.event === FINAL ? 'ready' : 'expired' };
}

/** Settles, from the first open event on, what is ready but was not subscribed to. */
function skipUnsubscribed(rows: readonly GateRow[]): readonly GateRow[] {
  const index = rows.findIndex(isOpen);
  const turn = rows[index];
  if (turn?.status !== 'ready' || turn.subscribed) return rows;
  return skipUnsubscribed(rows.with(index, { ...turn, status: 'settled', outcome: 'skipped' }));
}

/** Only a `session.finalized` that will be sent has to hurry the others, and only those whose facts are missing. */
function isBackstopNeeded(rows: readonly GateRow[]): boolean {
  return rows.some(({ status }) => status === 'waiting') && rows.at(-1)?.subscribed === true;
}

function change(state: EndedGate, name: WebhookEventName, update: (row: GateRow) => GateRow): EndedGate {
  const index = state.rows.findIndex(({ event }) => event === name);
  const row = state.rows[index];
  const updated = row && update(row);
  return updated === undefined || updated === row
    ? state
    : { ...state, rows: state.rows.with(index, updated) };
}

function turnOf(state: GateState): GateRow | undefined {
  return state.phase === 'ended' ? state.rows.find(isOpen) : undefined;
}

function isTurn(state: GateState, row: GateRow): boolean {
  return turnOf(state) === row;
}

function rowOf(state: GateState, name: WebhookEventName): GateRow | undefined {
  return state.phase === 'ended' ? state.rows.find(({ event }) => event === name) : undefined;
}

function isOpen({ status }: GateRow): boolean {
  return status !== 'settled' && status !== 'expired';
}
