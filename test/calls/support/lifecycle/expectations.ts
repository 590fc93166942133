import { type Call, expectsRecording, isFinal } from '../../../../src/calls/call.ts';
import type { WireCall } from './fakeLeg.ts';
import type { Database } from './stores.ts';

export interface Outcome {
  readonly database: Database;
  readonly wire: readonly WireCall[];
  /** Of the API, to those who hung up. */
  readonly answers: readonly Call[];
  /** Ids of calls that the API said it had accepted. */
  readonly accepted: readonly string[];
}

/** What is not as it has to be once everything is over; undefined where all is well. */
export function whatIsWrong({ database, wire, answers, accepted }: Outcome): string | undefined {
  const stored = (id: string) => database.rows.get(id)?.call;
  const untrue = answers.find(({ id, status }) => isFinal(status) && stored(id)?.status !== status);
  if (untrue) return `the API said that the call was ${untrue.status}`;
  if (accepted.some((id) => !stored(id))) return 'a call was accepted, and is not there';
  if (database.sessions.size > 0) return 'a session goes on';
  for (const { call } of database.rows.values()) {
    const own = wire.filter(({ callId }) => callId === call.id);
    for (const check of [keptWrong, toldWrong, timedWrong, seenWrong, leftWrong, dialledWrong]) {
      const wrong = check(call, own, database);
      if (wrong !== undefined) return `${call.status}, ${call.endReason}: ${wrong}`;
    }
  }
  return undefined;
}

function keptWrong({ id }: Call, _wire: readonly WireCall[], { ends }: Database): string | undefined {
  const times = ends.get(id) ?? 0;
  return times === 1 ? undefined : `it ended ${times} times`;
}

function toldWrong(call: Call, _wire: readonly WireCall[], database: Database): string | undefined {
  const own = database.told
    .filter(({ instanceId }) => instanceId === call.instanceId)
    .map(({ event }) => event);
  const expected = ['session.ended', 'call.ended', ...(expectsRecording(call) ? ['recording.ready'] : [])];
  return own.join() === expected.join() ? undefined : `its events are ${own}`;
}

function timedWrong({ createdAt, startedAt, answeredAt, endedAt }: Call): string | undefined {
  if (endedAt === null) return 'it has no end';
  const times = [createdAt, startedAt, answeredAt, endedAt].filter((at) => at !== null);
  return times.join() === times.toSorted().join() ? undefined : `its times are ${times}`;
}

/** Its status against what both ends of the wire saw. */
function seenWrong(call: Call, wire: readonly WireCall[]): string | undefined {
  const own = wire.filter(({ isSecond }) => !isSecond);
  const wasTalked = own.some(({ wasAnnounced }) => wasAnnounced);
  const says = (what: string) => own.some(({ log }) => log.includes(what));
  const wasCalledElsewhere = wire.some(
    ({ log, isSecond }) => (isSecond && log.includes('200')) || log.includes('REFER'),
  );
  if (call.endReason === 'transferred' && !wasCalledElsewhere) return 'nobody was called elsewhere';
  // Whoever ended it knew only what its node had kept.
  if (call.endReason === 'node_lost') return undefined;
  if ((call.answeredAt !== null) !== wasTalked) return wasTalked ? 'somebody talked' : 'nobody talked';
  if (call.status === 'completed' && !wasTalked) return 'nobody talked';
  if (call.status !== 'completed' && call.endReason !== 'trunk_error' && wasTalked) return 'somebody talked';
  return call.status === 'busy' && !says('486') ? 'nobody was busy' : undefined;
}

function leftWrong(_call: Call, wire: readonly WireCall[]): string | undefined {
  const left = wire.find(({ isUp, owner }) => isUp && owner.isAlive);
  return left && `a phone was left after ${left.log}`;
}

/** Another trunk is tried only where nobody can have been called over the one before. */
function dialledWrong(call: Call, wire: readonly WireCall[]): string | undefined {
  if (call.direction === 'inbound') return undefined;
  const own = wire.filter(({ isSecond }) => !isSecond);
  const reached = own.filter(({ log }) => log.includes('200') || log.includes('486'));
  const trunks = new Set(own.map(({ trunkId }) => trunkId));
  return reached.length > 1 || trunks.size < own.length
    ? `it was dialled twice: ${own.map(({ log }) => log.join('-'))}`
    : undefined;
}
