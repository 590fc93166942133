/**
 * Whole calls at once: an API request becomes an INVITE, an answer, and a talk of several turns with cut-ins.
 *
 *   npm run bench:calls [-- --calls 50,100 --seconds 30 --roles --embedded --profile FOLDER]
 *
 * The product is a process of its own, and so are Postgres and Redis: those that DATABASE_URL and REDIS_URL name, else
 * some that run only while this measures. With `--embedded` the product runs on what it brings, within its CPU time. With
 * `--roles` it is a process for each of its roles, and what each of them costs is told apart. The models are a process that takes scripted times. The phones run here; they answer at once, and speak from a recording,
 * since whole simulated callees would take more of a small machine than the calls do; the CPU time of all three is told
 * beside the product's, since they share its machine. The gateway's own part of a turn is what its history says of it
 * after the end of the caller's turn was sure (transcription, answer, speech and playout) without the scripted times.
 * Calls are placed ten a second; a few before them, which do not count, warm the product up.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { pcmu } from '../src/media/codecs/g711.ts';
import { createResampler } from '../src/media/resample/resampler.ts';
import { createFlite } from '../src/models/local/flite.ts';
import { type CallFigures, type Contact, readCalls } from './calls/history.ts';
import { type Phones, startPhones } from './calls/phones.ts';
import { type BenchProject, createProject, ONE_STEP } from './chat/project.ts';
import { type Server, type ServerOptions, startServer } from './chat/servers.ts';
import { openStores } from './chat/stores.ts';
import { compileProgram } from './support/compile.ts';
import { percentile } from './support/statistics.ts';

const WANTED = { ownP50Ms: 15, ownP99Ms: 40, stopP50Ms: 25, stopP95Ms: 60 };
const FROM = '+886223456789';
const BETWEEN_CALLS_MS = 100;
const CUTS_INTO_EACH = 3;
const WARMING_CALLS = 5;
const WARMING_MS = 15_000;
const PACKET_BYTES = 160;
/** Of a turn, as its history names them. */
const STEPS = ['bufferMs', 'endpointingMs', 'transcriptionMs', 'answerMs', 'speechMs', 'playoutMs'];

/** The API's first, since it is asked for calls. */
const ROLES = ['api', 'worker', 'voice', 'media'] as const;

/** A process of the product; the role is empty where it has all. */
interface ProductNode {
  readonly role: string;
  readonly server: Server;
}

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
const rows: string[][] = [];
const steps: string[][] = [];
const parts: string[][] = [];
try {
  for (const calls of options.calls.split(',').map(Number)) rows.push(await measure(calls));
} finally {
  await stores.close();
}
const { ownP50Ms, ownP99Ms, stopP50Ms, stopP95Ms } = WANTED;
console.log(`Node ${process.version}; callway runs on ${stores.title}.`);
console.log(
  `Aim: own part p50 ${ownP50Ms} ms, p99 ${ownP99Ms} ms; cut-in p50 ${stopP50Ms} ms, p95 ${stopP95Ms} ms; none failed.`,
);
console.log(
  table([
    [
      'calls',
      'failed',
      'turns',
      'own p50 ms',
      'p99',
      'heard p50',
      'cut-ins',
      'stop p50 ms',
      'p95',
      'API→INVITE p50',
      'p95',
      '→RTP p50',
      'p95',
      'CPU % a call',
      'phones’',
      'models’',
      'MB a call',
    ],
    ...rows,
  ]),
);
if (options.roles)
  console.log(table([['calls', 'role', 'CPU % a call', 'MB a call', 'MB before', 'calls a core'], ...parts]));
console.log(table([['calls', ...STEPS.flatMap((step) => [`${step} p50`, 'p99'])], ...steps]));

async function measure(count: number): Promise<string[]> {
  const servers: Server[] = [];
  const phones = await startPhones({ utterance, cutsIntoEach: CUTS_INTO_EACH });
  try {
    const start = async (name: Server['name'], given: Partial<ServerOptions> = {}) => {
      const server = await startServer(name, { program, ...given });
      servers.push(server);
      return server;
    };
    const { url: upstreamUrl } = await start('speakingUpstream');
    const nodes: ProductNode[] = [];
    for (const role of options.roles ? ROLES : ['']) {
      const server = await start('product', {
        upstreamUrl,
        environment: { ...stores.environment, ROLES: role },
        ...(options.profile === undefined ? {} : { profileFolder: join(options.profile, role) }),
      });
      nodes.push({ role, server });
    }
    const api = nodes[0]?.server;
    if (!api) throw new Error('nothing was started');
    const project = await createProject(api.url, { executionMode: 'balance' }, ONE_STEP);
    const trunk = { name: 'Phones', host: '127.0.0.1', port: phones.sipPort, optionsIntervalSeconds: 0 };
    await project.call('POST', '/trunks', { ...trunk, maxChannels: 1000, callsPerSecond: 1000 });
    await project.call('POST', '/phone-numbers', { number: FROM });
    await warmUp(api, project, phones);
    const models = servers.find(({ name }) => name === 'speakingUpstream');
    return await talk(count, nodes, api, project, phones, models);
  } finally {
    await phones.close();
    for (const server of servers.reverse()) await server.close();
  }
}

async function warmUp(product: Server, project: BenchProject, phones: Phones): Promise<void> {
  const contacts: Contact[] = [];
  for (let n = 0; n < WARMING_CALLS; n++)
    contacts.push(await place(product, project, `+88692${String(1_000_000 + n)}`));
  await sleep(WARMING_MS);
  await readCalls(project, contacts);
  phones.calls.clear();
}

async function talk(
  count: number,
  nodes: readonly ProductNode[],
  api: Server,
  project: BenchProject,
  phones: Phones,
  models: Server | undefined,
): Promise<string[]> {
  const all = <T>(ask: (server: Server) => Promise<T>) => Promise.all(nodes.map(({ server }) => ask(server)));
  const before = await all((server) => server.figures());
  const contacts: Contact[] = [];
  for (let n = 0; n < count; n++) {
    contacts.push(await place(api, project, `+88691${String(1_000_000 + n)}`));
    await sleep(BETWEEN_CALLS_MS);
  }
  const [cpuBefore, beganMs] = [await all((server) => server.cpuMicroseconds()), performance.now()];
  const phonesBefore = process.cpuUsage();
  const modelsBefore = (await models?.cpuMicroseconds()) ?? 0;
  await sleep(Number(options.seconds) * 1000);
  const cpuAfter = await all((server) => server.cpuMicroseconds());
  const { user, system } = process.cpuUsage(phonesBefore);
  const modelsShare = ((await models?.cpuMicroseconds()) ?? 0) - modelsBefore;
  const elapsedUs = (performance.now() - beganMs) * 1000;
  const after = await all((server) => server.figures());
  const costs = nodes.map(({ role }, index) => ({
    role,
    cpuPercent: (100 * ((cpuAfter[index] ?? 0) - (cpuBefore[index] ?? 0))) / elapsedUs / count,
    megabytes: ((after[index]?.rssBytes ?? 0) - (before[index]?.rssBytes ?? 0)) / count / 1e6,
    megabytesBefore: (before[index]?.rssBytes ?? 0) / 1e6,
  }));
  for (const { role, cpuPercent, megabytes, megabytesBefore } of costs) {
    const perCore = (100 / cpuPercent).toFixed(0);
    parts.push([
      ...[String(count), role, cpuPercent.toFixed(2), megabytes.toFixed(2)],
      ...[megabytesBefore.toFixed(0), perCore],
    ]);
  }
  const sumOf = (part: 'cpuPercent' | 'megabytes') => costs.reduce((sum, cost) => sum + cost[part], 0);
  const found = await readCalls(project, contacts);
  const stepOf = (step: string) => found.parts.map((parts) => parts[step] ?? 0);
  steps.push([String(count), ...STEPS.flatMap((step) => [ms(stepOf(step), 0.5), ms(stepOf(step), 0.99)])]);
  const invited = contacts.flatMap(({ toNumber, askedMs }) => {
    const times = phones.calls.get(toNumber)?.times;
    return times ? [times.invitedMs - askedMs] : [];
  });
  const answered = [...phones.calls.values()].flatMap(({ times: { invitedMs, firstPacketMs } }) =>
    firstPacketMs === undefined ? [] : [firstPacketMs - invitedMs],
  );
  const heard = [...phones.calls.values()].flatMap(({ person }) => person.latenciesMs);
  return [
    ...rowOf(count, found, heard),
    ...both(invited),
    ...both(answered),
    sumOf('cpuPercent').toFixed(2),
    ((100 * (user + system)) / elapsedUs / count).toFixed(2),
    ((100 * modelsShare) / elapsedUs / count).toFixed(2),
    sumOf('megabytes').toFixed(2),
  ];
}

function rowOf(count: number, { failed, ownMs, stopMs }: CallFigures, heard: readonly number[]): string[] {
  return [
    String(count),
    String(failed),
    String(ownMs.length),
    ms(ownMs, 0.5),
    ms(ownMs, 0.99),
    ms(heard, 0.5),
    String(stopMs.length),
    ms(stopMs, 0.5),
    ms(stopMs, 0.95),
  ];
}

function both(values: readonly number[]): string[] {
  return [0.5, 0.95].map((part) => ms(values, part));
}

function ms(values: readonly number[], part: number): string {
  return values.length === 0 ? '–' : percentile(values, part).toFixed(0);
}

async function place(product: Server, project: BenchProject, toNumber: string): Promise<Contact> {
  const askedMs = performance.now();
  const response = await fetch(`${product.url}/v1/calls/outbound`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ projectId: project.id, fromNumber: FROM, toNumber }),
  });
  if (response.status !== 202) throw new Error(`a call was not accepted: ${response.status}`);
  const { callId, sessionId } = (await response.json()) as { callId: string; sessionId: string };
  return { toNumber, askedMs, callId, sessionId };
}

/** Words in µ-law, in whole packets. */
async function recordedWords(text: string): Promise<Uint8Array> {
  const speech = createFlite({ threads: 1 });
  const pieces: number[] = [];
  for await (const piece of speech.speak({ text }, new AbortController().signal)) pieces.push(...piece);
  await speech.close();
  const samples = Int16Array.from(pieces);
  const resampler = createResampler(speech.sampleRateHz, 8000, samples.length);
  const at8000 = new Int16Array(resampler.maxOutput(samples.length));
  const length = resampler.process(samples, at8000);
  const out = new Uint8Array(length - (length % PACKET_BYTES));
  pcmu.open().encode(at8000.subarray(0, out.length), out);
  return out;
}
