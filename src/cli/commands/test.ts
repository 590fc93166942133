import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { type ListedRun, listedRun, type TestRun, testRun } from '../../testing/runs/testRun.ts';
import { parseResponse } from '../apiClient.ts';
import type { ApiOptions } from '../apiSession.ts';
import { type CliContext, CommandError, EXIT, type ExitCode } from '../command.ts';
import { poll, progressBar, progressLine } from '../progress.ts';
import { ofProject, openProject, type ProjectOptions, type ProjectSession } from '../projectSession.ts';
import { table } from '../table.ts';
import { initSuites, pullSuites, pushSuites } from '../testFiles.ts';

const POLL_MS = 500;
const DEFAULT_FOLDER = 'callway-tests';

const suiteData = z.object({ id: z.string(), name: z.string() });
export const runData = z.object({ data: testRun });

interface RunOptions extends ProjectOptions {
  readonly repeat?: number;
  readonly concurrency?: number;
  readonly seed?: number;
  readonly draft?: boolean;
  readonly release?: number;
  readonly phone?: boolean;
  readonly mode?: string[];
  readonly model?: string[];
  readonly junit?: string;
  readonly html?: string;
  readonly baseline?: string;
}

interface FolderOptions extends ProjectOptions {
  readonly dir: string;
}

/** @param setExitCode - Called with the exit code of a run that did not pass. */
export function testCommands(
  program: Command,
  context: CliContext,
  setExitCode: (code: ExitCode) => void,
): void {
  const group = program.command('test').description('run test suites, and keep them as files');
  runCommand(group, context, setExitCode);

  withFolder(group.command('init'))
    .description('write an example suite as a YAML file')
    .action(async ({ dir }: FolderOptions) => {
      context.write(`Wrote ${await initSuites(dir)}. "callway test push" creates it in the project.\n`);
    });

  ofProject(withFolder(group.command('push')))
    .description('create and update the suites and cases of the files; new ids are written to the files')
    .argument('[suites...]', 'names or ids of suites (default: all)')
    .action(async (names: string[], options: FolderOptions) => {
      const session = await openProject(context, options);
      const pushed = await pushSuites(session, options.dir, names);
      session.show(pushed, () =>
        pushed.map(({ name, cases }) => `Pushed ${name}: ${cases} cases.\n`).join(''),
      );
    });

  ofProject(withFolder(group.command('pull')))
    .description('write the suites and cases of the project to files')
    .argument('[suites...]', 'names or ids of suites (default: all)')
    .action(async (names: string[], options: FolderOptions) => {
      const session = await openProject(context, options);
      const pulled = await pullSuites(session, options.dir, names);
      session.show(pulled, () => pulled.map(({ file }) => `Wrote ${file}.\n`).join(''));
    });
}

function runCommand(group: Command, context: CliContext, setExitCode: (code: ExitCode) => void): void {
  ofProject(group.command('run'))
    .description('run a test suite; the exit code is 1 unless all of its cases pass')
    .argument('<suite>', 'id or name of the suite')
    .option('--repeat <times>', 'how often each case is played, 1 to 20', wholeNumber)
    .option('--concurrency <plays>', 'plays at once, 1 to 20', wholeNumber)
    .option('--seed <number>', 'seed of everything random', wholeNumber)
    .option('--draft', 'against the working copy instead of the live version')
    .addOption(
      new Option('--release <number>', 'against this release').argParser(wholeNumber).conflicts('draft'),
    )
    .option('--phone', 'play all cases over the phone, by simulated callers')
    .option(
      '--mode <modes>',
      'execution modes in place of the agent’s, one run each: smart,balance,turbo',
      listed,
    )
    .option('--model <models>', 'chat models in place of the agent’s, one run each', listed)
    .option('--junit <file>', 'write JUnit XML; of several runs, one file each')
    .option('--html <file>', 'write an HTML report; of several runs, one file each')
    .option('--baseline <run>', 'compare with the run of this id, or with the "last" one of the suite')
    .action(async (suite: string, options: RunOptions) => {
      const session = await openProject(context, options);
      const [first, ...others] = variantsOf(options);
      if (!first) return;
      const ended = [await runSuite(context, session, suite, options, first)];
      for (const variant of others) ended.push(await runSuite(context, session, suite, options, variant));
      const isOne = others.length === 0;
      session.show(isOne ? ended[0] : ended, () =>
        [...ended.map(resultTable), ...(isOne ? [] : [comparisonTable(ended)])].join('\n'),
      );
      if (ended.some(({ status }) => status !== 'passed')) setExitCode(EXIT.refused);
      for (const run of ended) {
        const file = (path: string) => (isOne ? path : fileOf(path, run));
        if (options.junit !== undefined) await writeReport(session, run.id, 'junit', file(options.junit));
        if (options.html !== undefined) await writeReport(session, run.id, 'report', file(options.html));
      }
    });
}

/** The settings of one run that replace the agent's own. */
interface Variant {
  readonly mode?: string | undefined;
  readonly model?: string | undefined;
}

/** Combines each mode with each model. */
function variantsOf({ mode = [], model = [] }: RunOptions): Variant[] {
  const modes = mode.length > 0 ? mode : [undefined];
  const models = model.length > 0 ? model : [undefined];
  return modes.flatMap((one) => models.map((other) => ({ mode: one, model: other })));
}

function variantName({ mode, model }: TestRun): string {
  return [mode, model].filter((part) => part !== null).join(' ') || 'agent';
}

/** The file of one of several reports: `report.xml` becomes `report-turbo.xml`. */
function fileOf(path: string, run: TestRun): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${variantName(run).replaceAll(/[^\w.-]+/g, '-')}${ext}`);
}

/** The runs of a suite side by side: of each case its result and 95th percentile. */
function comparisonTable(runs: readonly TestRun[]): string {
  const rows = (runs[0]?.cases ?? []).map(({ name }, position) => [
    ...runs.map(({ cases }) => {
      const one = cases[position];
      const p95 = one?.latencyMs.p95 ?? null;
      return `${one?.status ?? ''}${p95 === null ? '' : ` ${Math.round(p95)} ms`}`;
    }),
    name,
  ]);
  return table([[...runs.map(variantName), 'CASE'], ...rows]);
}

async function writeReport(
  { api, path }: ProjectSession,
  runId: string,
  report: 'junit' | 'report',
  file: string,
): Promise<void> {
  const text = await api.text(`${path}/test-runs/${runId}/${report}`);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(EXIT.refused, `The report ${file} cannot be written: ${reason}`, { cause: error });
  }
}

async function runSuite(
  context: CliContext,
  session: ProjectSession,
  nameOrId: string,
  options: RunOptions,
  variant: Variant,
): Promise<TestRun> {
  const { api, path, connection } = session;
  const suite = await findSuite(session, nameOrId);
  const { repeat, concurrency, seed, draft, release, phone, baseline } = options;
  const baselineRunId = baseline === 'last' ? (await lastRun(session, suite.id))?.id : baseline;
  if (baseline !== undefined && baselineRunId === undefined)
    context.writeError('The suite has no earlier run to compare with.\n');
  const version = draft ? 'draft' : 'live';
  const channel = phone ? 'phone' : undefined;
  const given = { repeat, concurrency, seed, baselineRunId, version, release, channel, ...variant };
  const started = await api.request('POST', `${path}/test-suites/${suite.id}/runs`, given);
  const { id } = parseResponse(runData, started, connection).data;
  const read = async () =>
    parseResponse(runData, await api.request('GET', `${path}/test-runs/${id}`), connection).data;
  const onValue = runProgress(context, options);
  return await poll(read, { everyMs: POLL_MS, isOver: ({ endedAt }) => endedAt !== null, onValue });
}

async function findSuite({ api, path }: ProjectSession, nameOrId: string) {
  const suites = await api.list(`${path}/test-suites`, suiteData);
  const found = suites.filter(({ id, name }) => id === nameOrId || name === nameOrId);
  const [suite, other] = found;
  if (!suite)
    throw new CommandError(
      EXIT.refused,
      `There is no test suite "${nameOrId}". The project has: ${suites.map(({ name }) => name).join(', ') || 'none'}.`,
    );
  if (other)
    throw new CommandError(
      EXIT.refused,
      `There are ${found.length} test suites named "${nameOrId}": give the id of one.`,
    );
  return suite;
}

async function lastRun(
  { api, path, connection }: ProjectSession,
  suiteId: string,
): Promise<ListedRun | undefined> {
  const answer = await api.request('GET', `${path}/test-runs?testSuiteId=${suiteId}&limit=20`);
  const { data } = parseResponse(z.object({ data: z.array(listedRun) }), answer, connection);
  return data.find(({ endedAt, status }) => endedAt !== null && status !== 'canceled');
}

/** Returns what shows the progress of a run. */
function runProgress(context: CliContext, options: ApiOptions): (run: TestRun) => void {
  const show = progressLine(context, options);
  return ({ cases, endedAt }) => {
    const plays = cases.flatMap(({ runs }) => runs);
    const done = plays.filter(({ status }) => status !== 'queued' && status !== 'running').length;
    show?.(`${progressBar(done, plays.length)} ${done} of ${plays.length}`, endedAt !== null);
  };
}

function resultTable({ cases, comparison, status, summary, id, seed }: TestRun): string {
  const ms = (value: number | null) => (value === null ? '' : `${Math.round(value)} ms`);
  const rows = cases.map(({ name, status: result, passed, failed, latencyMs }) => [
    result,
    `${passed}/${passed + failed}`,
    ms(latencyMs.p50),
    ms(latencyMs.p95),
    name,
  ]);
  const failures = cases.flatMap(({ name, runs }) =>
    runs.flatMap(({ index, error, assertions }) => [
      ...(error === undefined ? [] : [`${name} (${index + 1}): ${error}`]),
      ...assertions
        .filter(({ passed }) => !passed)
        .map(({ type, seen, reason, turn }) => {
          const place = turn === undefined ? '' : ` at turn ${turn}`;
          return `${name} (${index + 1}): ${type}${place}: ${reason ?? `saw ${JSON.stringify(seen)}`}`;
        }),
    ]),
  );
  const { passed, failed, flaky, errors } = summary;
  const compared = comparison
    ? `Against the baseline: ${comparison.newlyFailing.length} newly failing, ${comparison.newlyPassing.length} newly passing, ${comparison.slower.length} slower.\n`
    : '';
  return [
    table([['RESULT', 'PASSED', 'P50', 'P95', 'CASE'], ...rows]),
    ...failures.map((line) => `  ${line}\n`),
    `\n${status}: ${passed} passed, ${failed} failed, ${flaky} flaky, ${errors} errors (run ${id}, seed ${seed}).\n`,
    compared,
  ].join('');
}

function withFolder(command: Command): Command {
  return command.option('--dir <folder>', 'folder of the YAML files', DEFAULT_FOLDER);
}

function listed(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
