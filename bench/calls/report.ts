import { table } from '../../src/cli/table.ts';
import { percentile } from '../support/statistics.ts';
import type { CallRunFigures } from './runCalls.ts';

/** Parts of a turn, as the history names them. */
const STEPS = ['bufferMs', 'endpointingMs', 'transcriptionMs', 'answerMs', 'speechMs', 'playoutMs'];

/** Prints the turns of each phase. */
export function phasesTable(talks: readonly CallRunFigures[]): string {
  return table([
    [
      ...['calls', 'phase', 'turns', 'own p50 ms', 'p99', 'max', 'without playout p50', 'p99'],
      ...['cut-ins', 'stop p50 ms', 'p95', 'RTP p99 ms'],
    ],
    ...talks.flatMap(({ calls, phases }) =>
      phases.map(({ phase, turns, stops, playoutP99Ms }) => {
        const ownMs = turns.map((turn) => turn.ownMs);
        const beforePlayoutMs = turns.map(({ ownMs, parts }) => ownMs - (parts.playoutMs ?? 0));
        const stopMs = stops.map((stop) => stop.stopMs);
        return [
          ...[String(calls), phase, String(turns.length), ms(ownMs, 0.5), ms(ownMs, 0.99), ms(ownMs, 1)],
          ...[ms(beforePlayoutMs, 0.5), ms(beforePlayoutMs, 0.99)],
          ...[
            String(stops.length),
            ms(stopMs, 0.5),
            ms(stopMs, 0.95),
            playoutP99Ms === Infinity ? '> 100' : `≤ ${playoutP99Ms}`,
          ],
        ];
      }),
    ),
  ]);
}

/** Prints the outcome of the calls. */
export function callsTable(talks: readonly CallRunFigures[]): string {
  return table([
    [
      ...['calls', 'failed', 'heard p50 ms', 'p99', 'API→INVITE p50', 'p95', '→RTP p50', 'p95'],
      ...['CPU % a call', 'phones’', 'models’', 'MB a call'],
    ],
    ...talks.map(({ calls, failed, heardMs, invitedMs, answeredMs, costs }) => [
      ...[String(calls), String(failed), ms(heardMs, 0.5), ms(heardMs, 0.99)],
      ...[ms(invitedMs, 0.5), ms(invitedMs, 0.95), ms(answeredMs, 0.5), ms(answeredMs, 0.95)],
      sum(costs.nodes.map(({ cpuPercent }) => cpuPercent)).toFixed(2),
      ...[costs.phonesPercent.toFixed(2), costs.modelsPercent.toFixed(2)],
      sum(costs.nodes.map(({ megabytes }) => megabytes)).toFixed(2),
    ]),
  ]);
}

/** Prints what calls cost and how soon they are answered, beside another commit of the same run. */
export function comparisonTable(
  commit: string,
  others: readonly CallRunFigures[],
  talks: readonly CallRunFigures[],
): string {
  const figuresOf = ({ costs: { nodes }, phases }: CallRunFigures) => {
    const steady = phases.find(({ phase }) => phase === 'steady')?.turns ?? [];
    return {
      'CPU % a call': sum(nodes.map(({ cpuPercent }) => cpuPercent)),
      'own p50 ms':
        steady.length === 0
          ? Number.NaN
          : percentile(
              steady.map(({ ownMs }) => ownMs),
              0.5,
            ),
      'MB a call': sum(nodes.map(({ megabytes }) => megabytes)),
    };
  };
  return table([
    ['calls', 'figure', commit, 'this', 'ratio'],
    ...talks.flatMap((talk, index) => {
      const other = others[index];
      if (!other) return [];
      const [before, now] = [figuresOf(other), figuresOf(talk)];
      return (Object.keys(now) as (keyof typeof now)[]).map((name) => [
        ...[String(talk.calls), name, before[name].toFixed(2), now[name].toFixed(2)],
        (now[name] / before[name]).toFixed(2),
      ]);
    }),
  ]);
}

/** Prints the cost of each role. */
export function rolesTable(talks: readonly CallRunFigures[]): string {
  return table([
    ['calls', 'role', 'CPU % a call', 'MB a call', 'MB before', 'calls a core'],
    ...talks.flatMap(({ calls, costs }) =>
      costs.nodes.map(({ role, cpuPercent, megabytes, megabytesBefore }) => [
        ...[String(calls), role, cpuPercent.toFixed(2), megabytes.toFixed(2)],
        ...[megabytesBefore.toFixed(0), (100 / cpuPercent).toFixed(0)],
      ]),
    ),
  ]);
}

/** Prints how long events took to the client of their stream, beside messages of a plain Redis. */
export function eventsTable(talks: readonly CallRunFigures[]): string {
  return table([
    ['calls', 'events', 'streamed p50 ms', 'p95', 'p99', 'plain Redis p50', 'p95', 'p99'],
    ...talks.map(({ calls, events: { streamedMs, plainMs } }) => [
      ...[String(calls), String(streamedMs.length)],
      ...[streamedMs, plainMs].flatMap((times) => [ms(times, 0.5), ms(times, 0.95), ms(times, 0.99)]),
    ]),
  ]);
}

/** Prints where the time of a turn goes while all calls talk. */
export function stepsTable(talks: readonly CallRunFigures[]): string {
  return table([
    ['calls', ...STEPS.flatMap((step) => [`${step} p50`, 'p99'])],
    ...talks.map(({ calls, phases }) => [
      String(calls),
      ...STEPS.flatMap((step) => {
        const steady = phases.find(({ phase }) => phase === 'steady')?.turns ?? [];
        const values = steady.map(({ parts }) => parts[step] ?? 0);
        return [ms(values, 0.5), ms(values, 0.99)];
      }),
    ]),
  ]);
}

function ms(values: readonly number[], part: number): string {
  return values.length === 0 ? '–' : percentile(values, part).toFixed(0);
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
