import { CallwayError } from '../../../../src/base/errors.ts';
import { type Call, expectsRecording, isFinal, isRecordingFinal } from '../../../../src/calls/call.ts';
import type { CallStore } from '../../../../src/calls/callStore.ts';
import type { HistoryEvent, Session } from '../../../../src/engine/session/session.ts';

const MAX_STORING_MS = 15 * 60_000;

interface Row {
  call: Call;
  isSettled: boolean;
}

/** The database, by the rules of the SQL statements of the Postgres store. */
export interface Database {
  readonly rows: Map<string, Row>;
  /** How often each call ended. */
  readonly ends: Map<string, number>;
  /** Live sessions. */
  readonly sessions: Map<string, Session>;
  /** The end and the facts of each instance, each once, in order. */
  readonly facts: { readonly instanceId: string; readonly event: string }[];
  readonly calls: CallStore;
  readonly history: { addEvents(instanceId: string, events: readonly HistoryEvent[]): Promise<void> };
  readonly events: { readonly instanceId: string; readonly event: HistoryEvent }[];
  recordFact(instanceId: string, event: string): Promise<void>;
  endSession(sessionId: string): Promise<boolean>;
}

export function createDatabase(): Database {
  const rows = new Map<string, Row>();
  const ends = new Map<string, number>();
  const sessions = new Map<string, Session>();
  const heartbeats = new Map<string, number>();
  const facts: { readonly instanceId: string; readonly event: string }[] = [];
  const events: Database['events'] = [];
  const note = (instanceId: string, event: string) => {
    const isKnown = facts.some((one) => one.instanceId === instanceId && one.event === event);
    if (!isKnown) facts.push({ instanceId, event });
  };
  const all = () => [...rows.values()];
  const change = (row: Row, more: Partial<Call>): Call => {
    const wasFinal = isFinal(row.call.status);
    row.call = { ...row.call, ...more };
    const { endedAt, startedAt, answeredAt } = row.call;
    if (endedAt !== null) {
      const latest = [endedAt, startedAt ?? '', answeredAt ?? ''].toSorted().at(-1) ?? endedAt;
      row.call = { ...row.call, endedAt: latest };
    }
    if (!wasFinal && isFinal(row.call.status)) ends.set(row.call.id, (ends.get(row.call.id) ?? 0) + 1);
    return row.call;
  };
  const isSilent = (nodeId: string | null, before: Date) =>
    nodeId !== null && (heartbeats.get(nodeId) ?? 0) < before.getTime();
  const isLeft = ({ call, isSettled }: Row, before: Date): boolean => {
    if (isSettled) return false;
    if (isSilent(call.nodeId, before)) return true;
    const endedMs = Date.parse(call.endedAt ?? '');
    if (!isFinal(call.status) || !(endedMs < before.getTime())) return false;
    const isStoring = expectsRecording(call) && !isRecordingFinal(call);
    return !isStoring || endedMs < before.getTime() - MAX_STORING_MS;
  };

  const calls: CallStore = {
    async insert(call, session, started) {
      const isLive = all().some(
        ({ call: other }) =>
          other.direction === 'outbound' && !isFinal(other.status) && other.toNumber === call.toNumber,
      );
      if (call.direction === 'outbound' && isLive) {
        throw new CallwayError(
          'conflict',
          'number_already_queued',
          'A call to the number is queued or live already',
        );
      }
      rows.set(call.id, { call, isSettled: false });
      sessions.set(session.sessionId, session);
      events.push({ instanceId: session.instanceId, event: started });
    },
    find: async (_projectId, id) => rows.get(id)?.call,
    list: () => Promise.reject(new Error('not used here')),
    existing: async (ids) => new Set(ids.filter((id) => rows.has(id))),
    async claim(id, nodeId) {
      const row = rows.get(id);
      if (row?.call.status !== 'queued' || row.call.nodeId !== null) return undefined;
      return change(row, { nodeId });
    },
    takeDue: async () => [],
    queueScheduled: () => Promise.reject(new Error('not used here')),
    countCallbacks: () => Promise.reject(new Error('not used here')),
    replaceCallbacks: () => Promise.reject(new Error('not used here')),
    async releaseClaim(id, nodeId) {
      const row = rows.get(id);
      if (row?.call.status !== 'queued' || row.call.nodeId !== nodeId) return false;
      return change(row, { nodeId: null }).hangupRequested;
    },
    setAnsweringMachine: () => Promise.reject(new Error('not used here')),
    async update(id, nodeId, more, event) {
      const row = rows.get(id);
      if (!row || isFinal(row.call.status) || (nodeId !== null && row.call.nodeId !== nodeId))
        return undefined;
      if (event) events.push({ instanceId: row.call.instanceId, event });
      return change(row, more);
    },
    async requestHangup(_projectId, id, at) {
      const row = rows.get(id);
      if (!row || isFinal(row.call.status)) return undefined;
      const isUnclaimed = row.call.nodeId === null;
      return change(row, {
        hangupRequested: true,
        ...(isUnclaimed ? { status: 'canceled', endReason: 'api_hangup', endedAt: at } : {}),
      });
    },
    async completeRecording(id, recording) {
      const row = rows.get(id);
      return row && !isRecordingFinal(row.call) ? change(row, { recording }) : undefined;
    },
    async markSettled(id) {
      const row = rows.get(id);
      if (row) row.isSettled = true;
    },
    listQueued: async (after) =>
      all()
        .filter(
          ({ call }) =>
            call.status === 'queued' && call.nodeId === null && (after === null || call.id > after),
        )
        .map(({ call: { id, projectId, toNumber, createdAt } }) => ({
          id,
          projectId,
          toNumber,
          createdAtMs: Date.parse(createdAt),
        })),
    listOrphans: async (before) =>
      all()
        .filter((row) => isLeft(row, before))
        .map(({ call }) => {
          const seenMs = heartbeats.get(call.nodeId ?? '');
          return { call, lastSeenAt: seenMs === undefined ? null : new Date(seenMs).toISOString() };
        }),
    listUnsettledOn: async (nodeId) =>
      all()
        .filter(({ call, isSettled }) => !isSettled && call.nodeId === nodeId)
        .map(({ call }) => ({ call, lastSeenAt: null })),
    async recordHeartbeat(nodeId, at) {
      heartbeats.set(nodeId, Math.max(at.getTime(), heartbeats.get(nodeId) ?? 0));
    },
    mediaSamples: () => Promise.reject(new Error('not used here')),
    peaks: () => Promise.reject(new Error('not used here')),
    savePeaks: () => Promise.reject(new Error('not used here')),
    resultNames: async () => ({ metadata: [], variables: [], evaluation: [] }),
    results: async () => new Map(),
    turnLatencies: async () => new Map(),
  };
  return {
    rows,
    ends,
    sessions,
    facts,
    calls,
    events,
    history: {
      async addEvents(instanceId, added) {
        for (const event of added) events.push({ instanceId, event });
      },
    },
    async recordFact(instanceId, event) {
      const row = all().find(({ call }) => call.instanceId === instanceId);
      const isEarly = event === 'recording.ready' && row !== undefined && !isRecordingFinal(row.call);
      note(instanceId, isEarly ? `${event} too early` : event);
    },
    async endSession(sessionId) {
      const session = sessions.get(sessionId);
      if (!session) return false;
      note(session.instanceId, 'session.ended');
      sessions.delete(sessionId);
      return true;
    },
  };
}
