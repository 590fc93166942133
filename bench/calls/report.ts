import { table } from '../../src/cli/table.ts';
import { percentile } from '../support/statistics.ts';
import type { CallRunFigures } from './runCalls.ts';

/** Parts of a turn, as the history names them. */
const STEPS = ['bufferMs', 'endpointingMs', 'transcriptionMs', 'answerMs', 'speechMs', 'playoutMs'];

/** Prints the outcome of the calls. */
export function callsTable(talks: readonly CallRunFigures[]): string {
  return table([
    [
      ...['calls', 'failed', 'turns', 'own p50 ms', 'p99', 'heard p50', 'cut-ins', 'stop p50 ms', 'p95'],
      ...['API→INVITE p50', 'p95', '→RTP p50', 'p95', 'CPU % a call', 'phones’', 'models’', 'MB a call'],
    ],
    ...talks.map(({ calls, failed, ownMs, stopMs, heardMs, invitedMs, answeredMs, costs }) => [
      ...[calls, failed, ownMs.length].map(String),
      ...[ms(ownMs, 0.5), ms(ownMs, 0.99), ms(heardMs, 0.5)],
      ...[String(stopMs.length), ms(stopMs, 0.5), ms(stopMs, 0.95)],
      ...[ms(invitedMs, 0.5), ms(invitedMs, 0.95), ms(answeredMs, 0.5), ms(answeredMs, 0.95)],
      sum(costs.nodes.map(({ cpuPercent }) => cpuPercent)).toFixed(2),
      ...[costs.phonesPercent.toFixed(2), costs.modelsPercent.toFixed(2)],
      sum(costs.nodes.map(({ megabytes }) => megabytes)).toFixed(2),
    ]),
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

/** Prints where the time of a turn goes. */
export function stepsTable(talks: readonly CallRunFigures[]): string {
  return table([
    ['calls', ...STEPS.flatMap((step) => [`${step} p50`, 'p99'])],
    ...talks.map(({ calls, parts }) => [
      String(calls),
      ...STEPS.flatMap((step) => {
        const values = parts.map((part) => part[step] ?? 0);
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
