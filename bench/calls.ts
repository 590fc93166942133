/**
 * Whole calls at once: an API request becomes an INVITE, an answer, and a talk of several turns with cut-ins.
 *
 *   npm run bench:calls [-- --calls 50,100 --seconds 30 --roles --embedded --profile FOLDER]
 *
 * The product is a process of its own, and so are Postgres and Redis: those that DATABASE_URL and REDIS_URL name, else
 * some that run only while this measures. With `--embedded` the product runs on what it brings, within its CPU time;
 * with `--roles` it is a process for each of its roles, and what each of them costs is told apart. The models are a
 * process that takes scripted times. The phones run here; they answer at once, and speak from a recording, since whole
 * simulated callees would take more of a small machine than the calls do; the CPU time of all three is told beside the
 * product's, since they share its machine. The gateway's own part of a turn is what its history says of it after the end
 * of the caller's turn was sure (transcription, answer, speech and playout) without the scripted times. Calls are placed
 * ten a second; a few before them, which do not count, warm the product up.
 */
import { parseArgs } from 'node:util';

import { callsTable, rolesTable, stepsTable } from './calls/report.ts';
import { setUpStand } from './calls/stand.ts';
import { type TalkFigures, talk, warmUp } from './calls/talk.ts';
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
const talks: TalkFigures[] = [];
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

async function measure(calls: number): Promise<TalkFigures> {
  const stand = await setUpStand({
    ...{ program, stores, utterance },
    hasRoles: options.roles,
    profileFolder: options.profile,
  });
  try {
    await warmUp(stand);
    return await talk(stand, calls, Number(options.seconds));
  } finally {
    await stand.close();
  }
}
