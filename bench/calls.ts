/**
 * Concurrent calls: an API request becomes an INVITE, an answer, and a conversation of several turns with interruptions.
 *
 *   npm run bench:calls [-- --calls 50,100 --seconds 30 --roles --embedded --profile FOLDER]
 *
 * The product runs in a process of its own, and so do Postgres and Redis: those of DATABASE_URL and REDIS_URL, else
 * temporary ones. With `--embedded` the product runs on its embedded stores, which count as its CPU time; with `--roles`
 * each role is a process, and the cost of each is reported. The models are a process with scripted delays. The phones run
 * in this process; they answer at once and play a recording, since full simulated callers would take more of a small
 * machine than the calls. Their CPU time is reported beside the product's, since they share the machine. The gateway's
 * part of a turn is what the history reports after the caller's turn ended (transcription, answer, synthesis, playout),
 * less the scripted delays. Ten calls are placed per second; a few uncounted ones first warm the product up.
 */
import { parseArgs } from 'node:util';
import { startInstallation } from './calls/installation.ts';
import { callsTable, rolesTable, stepsTable } from './calls/report.ts';
import { type CallRunFigures, runCalls, warmUp } from './calls/runCalls.ts';
import { recordedWords } from './calls/utterance.ts';
import { openStores } from './chat/stores.ts';
import { compileProgram } from './support/compile.ts';

const AIM = 'own part p50 15 ms, p99 40 ms; cut-in p50 25 ms, p95 60 ms; none failed';

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '50,100' },
    seconds: { type: 'string', default: '30' },
    embedded: { type: 'boolean', default: false },
    roles: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
if (options.roles && options.embedded)
  throw new Error('--roles share a database and a Redis: not --embedded');

const program = await compileProgram('chat/child.ts');
const stores = await openStores(options.embedded);
const utterance = await recordedWords('I would like to know a little more about that.');
const talks: CallRunFigures[] = [];
try {
  for (const calls of options.calls.split(',').map(Number)) talks.push(await measure(calls));
} finally {
  await stores.close();
}
console.log(`Node ${process.version}; callway runs on ${stores.title}.`);
console.log(`Aim: ${AIM}.`);
console.log(callsTable(talks));
if (options.roles) console.log(rolesTable(talks));
console.log(stepsTable(talks));

async function measure(calls: number): Promise<CallRunFigures> {
  const stand = await startInstallation({
    ...{ program, stores, utterance },
    hasRoles: options.roles,
    profileFolder: options.profile,
  });
  try {
    await warmUp(stand);
    return await runCalls(stand, calls, Number(options.seconds));
  } finally {
    await stand.close();
  }
}
