import { CallwayError } from '../../base/errors.ts';
import { runPathway } from '../pathway/runPathway.ts';
import { keepLateTurn, type TurnKeeper } from '../session/lateTurn.ts';
import type { HistoryEventType, Session } from '../session/session.ts';
import { TurnCancelledError } from './delivery.ts';
import type { TurnDone, TurnOutput } from './turn.ts';
import type { TurnContext } from './turnContext.ts';

const LEFT_BEFORE_FIRST_WORD = {
  code: 'interrupted',
  message: 'The customer left before the answer began',
};

export interface KeepTurnDeps {
  readonly sessions: TurnKeeper;
  readonly onError: (error: unknown, what: string) => void;
}

/** A turn that is over. */
export interface KeptTurn {
  /** The session as it is then. */
  readonly kept: Session;
  readonly done: TurnDone;
}

/**
 * Takes the turn and keeps it: whole, or, when the customer left or the model failed midway, as far as it was passed
 * on. A turn that failed, or was left, before its first word is as if it had not been, but for the history, which has the
 * error and the tools that ran, and for what the customer said aloud, who does not send it again; one that was taken back
 * leaves nothing at all.
 *
 * @param stands - Resolves once it is the turn that counts, and rejects where it is taken back. Nobody is told before that
 *   it is over.
 */
export async function* runAndStore(
  deps: KeepTurnDeps,
  run: TurnContext,
  stands: Promise<void>,
): AsyncGenerator<TurnOutput, KeptTurn> {
  const { journal } = run;
  let isKept = false;
  let hasFailed = false;
  const keep = async (hasSpoken: boolean, interrupted: boolean): Promise<Session> => {
    isKept = true;
    await stands;
    const delivered = await run.request.delivery?.finish();
    if (isTakenBack(run)) throw run.signal.reason;
    const { session, record } = journal.close({ hasSpoken, interrupted, delivered });
    await deps.sessions.saveTurn(session, record).catch(async (error: unknown) => {
      await keepLateTurn(deps.sessions, session, record, error);
      throw error;
    });
    return session;
  };
  try {
    const end = yield* runPathway(run);
    const kept = await keep(end.hasSpoken, false);
    const done: TurnDone = {
      type: 'done',
      finishReason: kept.state.pendingToolCalls.length > 0 ? 'tool_calls' : 'stop',
      ended: end.ended,
      model: run.modelName,
      usage: run.meter.total(),
    };
    return { kept, done };
  } catch (error) {
    hasFailed = !run.signal.aborted;
    if (hasFailed && !isKept) journal.event('error', dataOf(error));
    throw error;
  } finally {
    if (isTakenBack(run)) isKept = true;
    if (!isKept && journal.said() !== '') await keep(true, true);
    else if (!isKept) {
      if (!hasFailed) journal.event('error', LEFT_BEFORE_FIRST_WORD);
      const isMeant = await stands.then(
        () => true,
        () => false,
      );
      if (isMeant) await keepUnanswered(deps, run);
    }
  }
}

function isTakenBack({ signal }: TurnContext): boolean {
  return signal.reason instanceof TurnCancelledError;
}

/** What came from a customer who speaks, or presses keys. */
const HEARD_EVENTS: ReadonlySet<HistoryEventType> = new Set(['dtmf', 'silence', 'barge_in']);
/** What happened, whatever became of the turn: a tool may have done something that cannot be undone. */
const LASTING_EVENTS: ReadonlySet<HistoryEventType> = new Set(['error', 'tool_called', 'tool_result']);

/**
 * The history learns of the failure, and of what was said on the phone while the answer was waited for; the talk stays
 * where it was, so that the same request may be sent again.
 */
async function keepUnanswered(deps: KeepTurnDeps, { session, journal, request }: TurnContext): Promise<void> {
  const isSpoken = request.delivery !== undefined;
  const delivered = request.delivery?.heardSoFar() ?? { text: '', interrupted: false };
  const hasHeard = delivered.text !== '';
  const { record: whole } = journal.close({
    hasSpoken: session.state.hasSpoken,
    interrupted: false,
    delivered,
  });
  const said = isSpoken ? whole.messages.filter(({ role }) => role === 'user') : [];
  const messages = hasHeard ? [...said, ...whole.messages.slice(-1)] : said;
  const events = whole.events.filter(
    ({ type }) => LASTING_EVENTS.has(type) || (isSpoken && HEARD_EVENTS.has(type)),
  );
  const { state } = session;
  const next = {
    ...session,
    turn: session.turn + 1,
    state: messages.length === 0 ? state : { ...state, messages: [...state.messages, ...messages] },
  };
  const record = { messages, events };
  try {
    await deps.sessions.saveTurn(next, record).catch(async (error: unknown) => {
      if (await keepLateTurn(deps.sessions, next, record, error)) throw error;
    });
  } catch (error) {
    deps.onError(error, 'a turn’s failure was not kept');
  }
}

function dataOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof CallwayError)) return { code: 'internal_error', message: 'Internal error' };
  return { code: error.code, message: error.message };
}
