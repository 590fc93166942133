/**
 * Campaigns over real SIP on loopback: nodes of the built service, a Postgres, a Redis, and a carrier whose callees react by
 * a seed. Each figure stands beside its aim.
 *
 *   npm run bench:campaign [-- --parts days,choice,pacing,pause,orders,failing,dialing,import --contacts 10000 --seed 1
 *     --kills 20 --minutes 2 --rows 1000000]
 *
 * `days`: campaigns in four windows of 40 zones over three days, while two nodes are killed, Redis and Postgres are lost,
 * people opt out by keypad and numbers are listed. Nodes follow the database's clock, and here the database has functions of
 * its own for it: while no call is open and no contact is due, the clock is set to 16 s before some window opens or
 * closes, and then runs at its own pace. The carrier keeps the same time, by which each INVITE is judged. An attempt that a
 * kill has cut off is `failed`, and retried by the rule for that.
 *
 * `choice` measures the reads of a step of a campaign in Postgres; `pacing` takes `--minutes`; `import` also deletes the
 * project. Run it on a quiet machine: the nodes share it with the carrier and the databases.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { measureChoice } from './campaign/choice.ts';
import { measureDays } from './campaign/days.ts';
import {
  measureDialing,
  measureFailing,
  measureOrders,
  measurePacing,
  measurePause,
} from './campaign/flow.ts';
import { measureImport } from './campaign/importing.ts';
import type { Line } from './campaign/report.ts';

const { values: options } = parseArgs({
  options: {
    parts: { type: 'string', default: 'days,choice,pacing,pause,orders,failing,dialing,import' },
    contacts: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    kills: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '2' },
    rows: { type: 'string', default: '1000000' },
  },
});
const [contacts, seed, kills, minutes, rows] = [
  options.contacts,
  options.seed,
  options.kills,
  options.minutes,
  options.rows,
].map(Number) as [number, number, number, number, number];
const PARTS: Readonly<Record<string, () => Promise<Line[]>>> = {
  days: () => measureDays({ contacts, seed, kills }),
  choice: () => measureChoice(rows),
  pacing: () => measurePacing(minutes),
  pause: () => measurePause(5),
  orders: () => measureOrders(20),
  failing: measureFailing,
  dialing: () => measureDialing(400),
  import: () => measureImport(rows),
};

const lines: string[][] = [];
for (const part of options.parts.split(',')) {
  const measure = PARTS[part];
  if (!measure) throw new Error(`There is no part "${part}": ${Object.keys(PARTS).join(', ')}`);
  const load = loadavg()[0]?.toFixed(1) ?? '';
  for (const { what, aim, figure } of await measure()) lines.push([what, aim, figure, load]);
}
console.log(table([['what', 'aim', 'measured', 'load before'], ...lines]));
