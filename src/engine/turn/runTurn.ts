import { CallwayError } from '../../base/errors.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import { runPathway } from '../pathway/runPathway.ts';
import { walkHistory } from '../pathway/walkHistory.ts';
import { type HistoryEventType, type Session, withMessages } from '../session/session.ts';
import { recordLateTurn, type TurnHistory, type TurnStore } from '../session/sessionStore.ts';
import { TurnCancelledError } from './delivery.ts';
import type { TurnDone } from './turn.ts';
import type { TurnContext } from './turnContext.ts';

/** The events that the history keeps of a spoken turn without an answer: the customer will not repeat it. */
const CUSTOMER_EVENTS: ReadonlySet<HistoryEventType> = new Set([
  'dtmf',
  'silence',
  'not_understood',
  'barge_in',
]);
/** The events that the history keeps of any turn: a tool may have had effects that cannot be undone. */
const LASTING_EVENTS: ReadonlySet<HistoryEventType> = new Set([
  'error',
  'tool_called',
  'tool_result',
  'opt_out',
]);

export interface StoreTurnDeps {
  readonly sessions: TurnStore;
  readonly onError: (error: unknown, what: string) => void;
}

export interface CompletedTurn {
  /** The session after the turn. */
  readonly session: Session;
  readonly done: TurnDone;
}

/**
 * Runs a turn and stores it.
 *
 * | the turn | stored |
 * | --- | --- |
 * | completed | whole |
 * | aborted or failed after its first word | as far as it was delivered, marked as interrupted |
 * | aborted or failed before its first word | its error and tool calls; of a spoken turn also what the customer said |
 * | cancelled ({@link TurnCancelledError}), or failed before its commitment | nothing |
 *
 * @throws What the turn failed with, once that is stored.
 */
export async function runTurn(deps: StoreTurnDeps, turn: TurnContext): Promise<CompletedTurn> {
  turn.events.started(turn.request);
  const running = turn.request.walksHistory ? walkHistory(turn).then(runPathway) : runPathway(turn);
  const { hasSpoken, ended } = await running.catch(async (error: unknown) => {
    await storeBroken(deps, turn, error);
    throw error;
  });
  const session = await storeDelivered(deps, turn, hasSpoken, false);
  const done: TurnDone = {
    type: 'done',
    finishReason: session.state.pendingToolCalls.length > 0 ? 'tool_calls' : 'stop',
    ended,
    model: turn.usage.model ?? turn.modelName,
    usage: turn.usage.total,
  };
  return { session, done };
}

async function storeBroken(deps: StoreTurnDeps, turn: TurnContext, error: unknown): Promise<void> {
  const { journal, signal, request } = turn;
  if (isCancelled(turn) || request.delivery?.commitment?.isPending) return;
  const hasWords = journal.said() !== '';
  if (!signal.aborted) journal.event('error', errorData(error));
  else if (!hasWords)
    journal.event('error', { code: 'interrupted', message: 'The customer left before the answer began' });
  if (hasWords) await storeDelivered(deps, turn, true, true);
  else await storeUnanswered(deps, turn);
}

/** Waits until the answer is delivered, and stores what was. @throws The signal's reason when it was cancelled. */
async function storeDelivered(
  deps: StoreTurnDeps,
  turn: TurnContext,
  hasSpoken: boolean,
  interrupted: boolean,
): Promise<Session> {
  const delivered = await turn.request.delivery?.finish();
  if (delivered) turn.trace.recordDelivery(delivered);
  if (isCancelled(turn)) throw turn.signal.reason;
  const { session, history } = turn.journal.close({
    hasSpoken,
    interrupted,
    delivered,
    digest: turn.request.digest,
    amounts: turn.usage.amounts,
    used: turn.usage.tally.take(),
  });
  turn.events.answered(history.messages, delivered);
  const rejection = await storeTurn(deps, turn, session, history);
  if (rejection !== undefined) throw rejection;
  return session;
}

/** Stores a turn without an answer. The conversation stays where it was, so that the request can be sent again. */
async function storeUnanswered(deps: StoreTurnDeps, turn: TurnContext): Promise<void> {
  const { session, journal, request, usage } = turn;
  const isSpoken = request.delivery !== undefined;
  const delivered = request.delivery?.heardSoFar() ?? { text: '', interrupted: false };
  const { hasSpoken } = session.state;
  const { session: closed, history: whole } = journal.close({
    hasSpoken,
    interrupted: false,
    delivered,
    amounts: usage.amounts,
    used: usage.tally.take(),
  });
  const said = isSpoken ? whole.messages.filter(({ role }) => role === 'user' || role === 'system') : [];
  const fillers = delivered.text === '' ? [] : whole.messages.slice(-1);
  const messages = [...said, ...fillers];
  turn.events.answered(fillers, delivered);
  const history = {
    ...whole,
    messages,
    optOut: whole.optOut,
    events: whole.events.filter(
      ({ type }) => LASTING_EVENTS.has(type) || (isSpoken && CUSTOMER_EVENTS.has(type)),
    ),
  };
  const { latestInstruction } = isSpoken ? closed.state : session.state;
  const kept = { latestInstruction, usage: closed.state.usage };
  const state = { ...withMessages(session.state, messages), ...omitUndefined(kept) };
  // A new session is found by the request that began it, when that is sent again.
  const digest = session.digest ?? request.digest ?? null;
  const next: Session = { ...session, turn: session.turn + 1, state, digest };
  try {
    await storeTurn(deps, turn, next, history);
  } catch (error) {
    deps.onError(error, 'failed turn not stored');
  }
}

/**
 * Stores a turn. What it used is stored later where the turn is not.
 *
 * @returns The rejection of a turn whose session has ended meanwhile, and to whose history it was added.
 * @throws {CallwayError} When it is not stored.
 */
async function storeTurn(
  { sessions }: StoreTurnDeps,
  { usage }: TurnContext,
  session: Session,
  history: TurnHistory,
): Promise<unknown> {
  try {
    await sessions.saveTurn(session, history);
    return undefined;
  } catch (error) {
    let isKept = false;
    try {
      isKept = (await recordLateTurn(sessions, session, history, error)) === undefined;
    } finally {
      if (!isKept) usage.tally.add(history.used ?? {});
    }
    if (!isKept) throw error;
    return error;
  }
}

function isCancelled({ signal }: TurnContext): boolean {
  return signal.reason instanceof TurnCancelledError;
}

function errorData(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof CallwayError)) return { code: 'internal_error', message: 'Internal error' };
  return { code: error.code, message: error.message };
}
