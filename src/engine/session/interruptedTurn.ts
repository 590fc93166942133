import type { Clock } from '../../base/clock.ts';
import type { Session, SessionMessage } from './session.ts';
import type { SessionStore } from './sessionStore.ts';

/** A spoken turn that is under way, as somebody else could keep it. */
export interface TurnCheckpoint {
  /** Of the session when the turn began. */
  readonly turn: number;
  /** ISO 8601. */
  readonly at: string;
  readonly nodeId: string | null;
  /** What it answers; empty where the customer has said nothing. */
  readonly said: string;
  /** What was heard of the answer so far. */
  readonly heard: string;
}

/** Notes of turns under way, where they outlive the node that takes them. */
export interface TurnCheckpointStore {
  /** In place of the session's former one. */
  put(instanceId: string, note: TurnCheckpoint): Promise<void>;
  /** @returns With the time since it was put. */
  find(instanceId: string): Promise<{ readonly note: TurnCheckpoint; readonly ageMs: number } | undefined>;
  drop(instanceId: string): Promise<void>;
}

export interface RecoveryDeps {
  readonly sessions: Pick<SessionStore, 'find' | 'saveTurn'>;
  readonly notes: Pick<TurnCheckpointStore, 'find' | 'drop'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Whoever talks puts a note at least so often. */
export const CHECKPOINT_INTERVAL_MS = 1000;
/** Nobody has put one for so long: whoever did is gone. */
export const CHECKPOINT_STALE_MS = 2500;

/**
 * Keeps what was said in a turn whose node was lost in the middle of it: the customer's words, and of the answer what
 * was heard until the last note.
 *
 * @param minAgeMs - A younger note is left alone: its turn may still be kept by the node that takes it.
 */
export async function recoverInterruptedTurn(
  { sessions, notes, clock }: RecoveryDeps,
  projectId: string,
  sessionId: string,
  minAgeMs = 0,
): Promise<void> {
  const session = await sessions.find(projectId, sessionId);
  const found = session && (await notes.find(session.instanceId));
  if (!found || found.ageMs < minAgeMs) return;
  if (found.note.turn === session.turn) await keep(sessions, session, found.note, clock);
  await notes.drop(session.instanceId);
}

async function keep(
  sessions: RecoveryDeps['sessions'],
  session: Session,
  { at, nodeId, said, heard }: TurnCheckpoint,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const place = nodeId === null ? {} : { nodeId };
  const messages: SessionMessage[] = [
    ...(said === '' ? [] : [{ role: 'user' as const, content: said, at }]),
    ...(heard === ''
      ? []
      : [{ role: 'assistant' as const, content: heard, at, ...place, interrupted: true }]),
  ];
  const { state } = session;
  const next: Session = {
    ...session,
    turn: session.turn + 1,
    state: {
      ...state,
      messages: [...state.messages, ...messages],
      ...(heard === '' ? {} : { currentNodeId: nodeId ?? state.currentNodeId, hasSpoken: true }),
    },
  };
  const data = { code: 'node_lost', message: 'The node that talked was lost in the middle of a turn' };
  const events = [{ type: 'error' as const, at: new Date(clock.now()).toISOString(), data }];
  await sessions.saveTurn(next, { messages, events });
}
