import { type Call, expectsRecording, isFinal } from '../../../../src/calls/call.ts';
import type { WireCall } from './fakeLeg.ts';
import type { Database } from './stores.ts';

export interface Outcome {
  readonly database: Database;
  readonly wire: readonly WireCall[];
  /** The API's answers to hang-up requests. */
  readonly answers: readonly Call[];
  /** Ids of calls that the API accepted. */
  readonly accepted: readonly string[];
}

/** The first violated expectation at the end of a scene. */
export function violation({ database, wire, answers, accepted }: Outcome): string | undefined {
  const stored = (id: string) => database.rows.get(id)?.call;
  const untrue = answers.find(({ id, status }) => isFinal(status) && stored(id)?.status !== status);
  if (untrue) return `the API answered ${untrue.status}, which is not stored`;
  if (accepted.some((id) => !stored(id))) return 'an accepted call is not stored';
  if (database.sessions.size > 0) return 'a session has not ended';
  for (const { call } of database.rows.values()) {
    const own = wire.filter(({ callId }) => callId === call.id);
    for (const check of [
      wrongEnds,
      wrongFacts,
      wrongTimes,
      wrongStatus,
      wrongTransfer,
      openPhone,
      dialedTwice,
    ]) {
      const wrong = check(call, own, database);
      if (wrong !== undefined) return `${call.status}, ${call.endReason}: ${wrong}`;
    }
  }
  return undefined;
}

function wrongEnds({ id }: Call, _wire: readonly WireCall[], { ends }: Database): string | undefined {
  const times = ends.get(id) ?? 0;
  return times === 1 ? undefined : `it ended ${times} times`;
}

function wrongFacts(call: Call, _wire: readonly WireCall[], database: Database): string | undefined {
  const own = database.facts
    .filter(({ instanceId }) => instanceId === call.instanceId)
    .map(({ event }) => event);
  const expected = ['session.ended', 'call.ended', ...(expectsRecording(call) ? ['recording.ready'] : [])];
  return own.join() === expected.join() ? undefined : `its events are ${own}`;
}

function wrongTimes({ createdAt, startedAt, answeredAt, endedAt }: Call): string | undefined {
  if (endedAt === null) return 'it has no end';
  const times = [createdAt, startedAt, answeredAt, endedAt].filter((at) => at !== null);
  return times.join() === times.toSorted().join() ? undefined : `its times are ${times}`;
}

/** Compares the status with what both ends of the wire saw. */
function wrongStatus(call: Call, wire: readonly WireCall[]): string | undefined {
  const own = wire.filter(({ isSecond }) => !isSecond);
  const wasAnswered = own.some(({ wasAnswered }) => wasAnswered);
  const says = (what: string) => own.some(({ log }) => log.includes(what));
  const wasTransferred = wire.some(
    ({ log, isSecond }) => (isSecond && log.includes('200')) || log.includes('REFER'),
  );
  if (call.endReason === 'transferred' && !wasTransferred) return 'no transfer target was called';
  // Whatever ended it knew only what its node had stored.
  if (call.endReason === 'node_lost') return undefined;
  if ((call.answeredAt !== null) !== wasAnswered)
    return wasAnswered ? 'it was answered' : 'it was not answered';
  if (call.status === 'completed' && !wasAnswered) return 'it was not answered';
  if (call.status !== 'completed' && call.endReason !== 'trunk_error' && wasAnswered)
    return 'it was answered';
  return call.status === 'busy' && !says('486') ? 'no peer was busy' : undefined;
}

function wrongTransfer({ transfer, endReason }: Call): string | undefined {
  if (transfer && transfer.endedAt === null) return 'its transfer has not ended';
  const isJoined = transfer?.outcome === 'joined';
  return endReason === 'transferred' && !isJoined ? 'no transfer target was joined' : undefined;
}

function openPhone(_call: Call, wire: readonly WireCall[]): string | undefined {
  const left = wire.find(({ isUp, owner }) => isUp && owner.isAlive);
  return left && `a phone is still in the call after ${left.log}`;
}

/** Another trunk is tried only when the previous one cannot have reached the callee. */
function dialedTwice(call: Call, wire: readonly WireCall[]): string | undefined {
  if (call.direction === 'inbound') return undefined;
  const own = wire.filter(({ isSecond }) => !isSecond);
  const reached = own.filter(({ log }) => log.includes('200') || log.includes('486'));
  const trunks = new Set(own.map(({ trunkId }) => trunkId));
  return reached.length > 1 || trunks.size < own.length
    ? `it was dialed twice: ${own.map(({ log }) => log.join('-'))}`
    : undefined;
}
