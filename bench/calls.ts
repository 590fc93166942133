/**
 * Concurrent calls: an API request becomes an INVITE, an answer, and a conversation of several turns with interruptions.
 *
 *   npm run bench:calls [-- --calls 50,100 --seconds 30 --hogs 2 --roles --embedded --profile FOLDER --against COMMIT]
 *
 * The product runs in a process of its own, and so do Postgres and Redis: those of DATABASE_URL and REDIS_URL, else
 * temporary ones. With `--embedded` the product runs on its embedded stores, which count as its CPU time; with
 * `--roles` each role is a process, and the cost of each is reported. The models are a process with scripted delays.
 * The phones run in this process; they answer at once and play a recording, since full simulated callers would take
 * more of a small machine than the calls. Their CPU time is reported beside the product's, since they share the
 * machine. The gateway's part of a turn is what the history reports after the caller's turn ended (transcription,
 * answer, synthesis, playout), less what the models took. It is also shown without playout, where an answer waits for
 * the time of the next packet: 10 ms on average, since packets leave every 20 ms. Ten calls are placed per second, and
 * hung up at the end; turns of the ramp, of the steady state and of the end are reported apart. Live events are timed
 * on their way to a client in a thread of its own, beside messages of a plain Redis; with `--roles` they happen on
 * other nodes than the client's. A few uncounted calls first warm the product up. `--hogs` are other programs that want
 * a core each all the time. With `--against` the product of another commit is compiled and measured in turn with this one.
 */
import { parseArgs } from 'node:util';
import { startHogs } from './calls/hogs.ts';
import { startInstallation } from './calls/installation.ts';
import {
  callsTable,
  comparisonTable,
  eventsTable,
  phasesTable,
  rolesTable,
  stepsTable,
} from './calls/report.ts';
import { type CallRunFigures, runCalls, warmUp } from './calls/runCalls.ts';
import { recordedWords } from './calls/utterance.ts';
import { openStores } from './chat/stores.ts';
import { compileProgram } from './support/compile.ts';
import { compileOtherCommit } from './support/otherCommit.ts';

const AIM =
  '100 calls on two quiet cores: own part p50 2 ms, p99 25 ms, with two hogs p99 100 ms; RTP p99 2 ms; cut-in p50 25 ms, p95 60 ms; none failed; at 200 calls, events p95 50 ms, with roles 100 ms';

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '50,100' },
    seconds: { type: 'string', default: '30' },
    embedded: { type: 'boolean', default: false },
    hogs: { type: 'string', default: '0' },
    roles: { type: 'boolean', default: false },
    profile: { type: 'string' },
    against: { type: 'string' },
  },
});
if (options.roles && options.embedded)
  throw new Error('--roles share a database and a Redis: not --embedded');

const PROGRAM = 'chat/child.ts';
const program = await compileProgram(PROGRAM);
const other = options.against === undefined ? undefined : await compileOtherCommit(options.against, PROGRAM);
const stores = await openStores(options.embedded);
// A product may not share a database with another build of it.
const otherStores = other && (await openStores(options.embedded));
const utterance = await recordedWords('I would like to know a little more about that.');
const talks: CallRunFigures[] = [];
const others: CallRunFigures[] = [];
try {
  for (const calls of options.calls.split(',').map(Number)) {
    if (other && otherStores) others.push(await measure(other.program, otherStores, calls));
    talks.push(await measure(program, stores, calls));
  }
} finally {
  await stores.close();
  await otherStores?.close();
  await other?.close();
}
console.log(`Node ${process.version}; callway runs on ${stores.title}.`);
console.log(`Aim: ${AIM}.`);
console.log(phasesTable(talks));
console.log(callsTable(talks));
if (options.roles) console.log(rolesTable(talks));
console.log(stepsTable(talks));
console.log(eventsTable(talks));
if (options.against !== undefined) console.log(comparisonTable(options.against, others, talks));

async function measure(
  program: string,
  stores: Awaited<ReturnType<typeof openStores>>,
  calls: number,
): Promise<CallRunFigures> {
  const stand = await startInstallation({
    ...{ program, stores, utterance },
    hasRoles: options.roles,
    profileFolder: options.profile,
  });
  let stopHogs = () => {};
  try {
    await warmUp(stand);
    stopHogs = startHogs(Number(options.hogs));
    return await runCalls(stand, calls, Number(options.seconds));
  } finally {
    stopHogs();
    await stand.close();
  }
}
