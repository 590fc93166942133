import type { Clock } from '../../base/values/clock.ts';
import { type MessageSpeech, type Session, type SessionMessage, withMessages } from './session.ts';
import type { SessionStore } from './sessionStore.ts';

/** The state of a running spoken turn, from which another node can recover it. */
export interface TurnCheckpoint {
  /** The session's turn number when the turn started. */
  readonly turn: number;
  /** ISO 8601. */
  readonly at: string;
  readonly nodeId: string | null;
  /** What the customer said; may be empty. */
  readonly said: string;
  /** What the customer has heard of the answer. */
  readonly heard: string;
  readonly speech?: MessageSpeech | undefined;
}

/** Stores checkpoints of running turns outside of the node. */
export interface TurnCheckpointStore {
  /** Replaces the session's checkpoint. */
  put(instanceId: string, checkpoint: TurnCheckpoint): Promise<void>;
  /** @returns The checkpoint and the time since it was stored. */
  find(
    instanceId: string,
  ): Promise<{ readonly checkpoint: TurnCheckpoint; readonly ageMs: number } | undefined>;
  drop(instanceId: string): Promise<void>;
}

export interface RecoveryDeps {
  readonly sessions: Pick<SessionStore, 'find' | 'saveTurn'>;
  readonly checkpoints: TurnCheckpointStore;
  readonly clock: Clock;
}

/** A running spoken turn stores a checkpoint this often. */
export const CHECKPOINT_INTERVAL_MS = 1000;
/** The node of an older checkpoint has failed. */
export const CHECKPOINT_STALE_MS = 2500;

/**
 * Recovers a turn whose node failed: stores the customer's words, and what they heard of the answer until the last
 * checkpoint.
 *
 * @param minAgeMs - A younger checkpoint is left alone: its node may still store the turn.
 */
export async function recoverInterruptedTurn(
  { sessions, checkpoints, clock }: RecoveryDeps,
  projectId: string,
  sessionId: string,
  minAgeMs = 0,
): Promise<void> {
  const session = await sessions.find(projectId, sessionId);
  const found = session && (await checkpoints.find(session.instanceId));
  if (!found || found.ageMs < minAgeMs) return;
  if (found.checkpoint.turn === session.turn) await store(sessions, session, found.checkpoint, clock);
  await checkpoints.drop(session.instanceId);
}

async function store(
  sessions: RecoveryDeps['sessions'],
  session: Session,
  { at, nodeId, said, heard, speech: { recognition, synthesis } = {} }: TurnCheckpoint,
  clock: Clock,
): Promise<void> {
  const messages: SessionMessage[] = [
    ...(said === ''
      ? []
      : [
          {
            role: 'user' as const,
            content: said,
            at,
            speech: recognition === undefined ? undefined : { recognition },
          },
        ]),
    ...(heard === ''
      ? []
      : [
          {
            role: 'assistant' as const,
            content: heard,
            at,
            nodeId: nodeId ?? undefined,
            speech: synthesis === undefined ? undefined : { synthesis },
            interrupted: true,
          },
        ]),
  ];
  const { state } = session;
  const next: Session = {
    ...session,
    turn: session.turn + 1,
    state: {
      ...withMessages(state, messages),
      currentNodeId: (heard !== '' && nodeId) || state.currentNodeId,
      hasSpoken: state.hasSpoken || heard !== '',
    },
  };
  const data = { code: 'node_lost', message: 'The node failed in the middle of a turn' };
  const events = [{ type: 'error' as const, at: new Date(clock.now()).toISOString(), data }];
  await sessions.saveTurn(next, { messages, events });
}
