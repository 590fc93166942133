import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { testCase, testCaseInput } from '../agents/testSuites/testCase.ts';
import { zodDetails } from '../base/validation.ts';
import { parseResponse } from './apiClient.ts';
import { CommandError, EXIT } from './command.ts';
import type { ProjectSession } from './projectSession.ts';

/** A suite in a file, with its cases. Without an id it is created. */
const suiteFile = z.strictObject({
  id: z.string().optional(),
  name: z.string().min(1),
  cases: z.array(testCaseInput.extend({ id: z.string().optional() })),
});
type SuiteFile = z.output<typeof suiteFile>;

const suiteData = z.object({
  id: z.string(),
  name: z.string(),
  testCases: z.array(z.object({ id: z.string() })),
});

const EXAMPLE = `# A suite of test cases. "callway test push" creates it and adds the ids.
name: Before each release
cases:
  - name: Greets the caller
    turns:
      - say: Hello
      - expect: { type: max_latency_ms, value: 3000 }
    assertions:
      - { type: not_said, value: as an AI }
`;

/** Writes an example. @returns Its file. @throws {CommandError} Where it exists already. */
export async function initSuites(folder: string): Promise<string> {
  const file = join(folder, 'before-each-release.yaml');
  await mkdir(folder, { recursive: true });
  await writeFile(file, EXAMPLE, { flag: 'wx' }).catch((error: unknown) => {
    throw new CommandError(EXIT.refused, `${file} exists already.`, { cause: error });
  });
  return file;
}

/** Creates and updates suites and cases; ids of new ones are written to their files. */
export async function pushSuites(
  session: ProjectSession,
  folder: string,
  names: readonly string[],
): Promise<{ name: string; cases: number }[]> {
  const files = await readFiles(folder);
  const chosen = choose(files, ({ suite }) => suite, names);
  const pushed = [];
  for (const { file, suite } of chosen) {
    const cases = [];
    for (const one of suite.cases) cases.push({ ...one, id: await pushCase(session, one) });
    const id = await pushSuite(
      session,
      suite,
      cases.map((one) => one.id),
    );
    await writeFile(file, toYaml({ ...suite, id, cases }));
    pushed.push({ name: suite.name, cases: cases.length });
  }
  return pushed;
}

/** Writes suites with their cases, to the file that has them or to a new one. */
export async function pullSuites(
  { api, path, connection }: ProjectSession,
  folder: string,
  names: readonly string[],
): Promise<{ name: string; file: string }[]> {
  const known = await readFiles(folder);
  const suites = choose(await api.list(`${path}/test-suites`, suiteData), (suite) => suite, names);
  await mkdir(folder, { recursive: true });
  const taken = new Set(known.map(({ file }) => file));
  const pulled = [];
  for (const { id, name, testCases } of suites) {
    const cases: SuiteFile['cases'] = [];
    for (const { id: caseId } of testCases) {
      const answer = await api.request('GET', `${path}/test-cases/${caseId}`);
      const {
        projectId: _project,
        createdAt: _created,
        updatedAt: _updated,
        ...one
      } = parseResponse(testCase, answer, connection);
      cases.push(one);
    }
    const file = known.find(({ suite }) => suite.id === id)?.file ?? newFile(folder, name, id, taken);
    taken.add(file);
    await writeFile(file, toYaml({ id, name, cases }));
    pulled.push({ name, file });
  }
  return pulled;
}

async function pushCase(
  { api, path, connection }: ProjectSession,
  { id, ...input }: SuiteFile['cases'][number],
) {
  const answer = await (id === undefined
    ? api.request('POST', `${path}/test-cases`, input)
    : api.request('PUT', `${path}/test-cases/${encodeURIComponent(id)}`, input));
  return parseResponse(testCase, answer, connection).id;
}

async function pushSuite(
  { api, path, connection }: ProjectSession,
  { id, name }: SuiteFile,
  testCaseIds: readonly string[],
): Promise<string> {
  const body = { name, testCaseIds };
  const answer = await (id === undefined
    ? api.request('POST', `${path}/test-suites`, body)
    : api.request('PUT', `${path}/test-suites/${encodeURIComponent(id)}`, body));
  return parseResponse(z.object({ data: suiteData }), answer, connection).data.id;
}

async function readFiles(folder: string): Promise<{ file: string; suite: SuiteFile }[]> {
  const entries = await readdir(folder).catch(() => []);
  const names = entries.filter((name) => /\.ya?ml$/.test(name)).toSorted();
  return await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      return { file, suite: readSuite(file, await readFile(file, 'utf8')) };
    }),
  );
}

function readSuite(file: string, text: string): SuiteFile {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(EXIT.refused, `${file} is no YAML: ${reason}`, { cause: error });
  }
  const parsed = suiteFile.safeParse(content);
  if (parsed.success) return parsed.data;
  const problems = zodDetails(parsed.error).map(({ path, message }) => `\n  ${path}: ${message}`);
  throw new CommandError(EXIT.refused, `${file} is no test suite:${problems.join('')}`);
}

/** @throws {CommandError} For a name that none has. */
function choose<Item>(
  items: readonly Item[],
  suiteOf: (item: Item) => { readonly id?: string | undefined; readonly name: string },
  names: readonly string[],
): readonly Item[] {
  if (names.length === 0) return items;
  return names.flatMap((name) => {
    const found = items.filter((item) => suiteOf(item).id === name || suiteOf(item).name === name);
    if (found.length === 0) throw new CommandError(EXIT.refused, `There is no test suite "${name}".`);
    return found;
  });
}

function newFile(folder: string, name: string, id: string, taken: ReadonlySet<string>): string {
  const slug =
    name
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '') || id;
  const file = join(folder, `${slug}.yaml`);
  return taken.has(file) ? join(folder, `${slug}-${id}.yaml`) : file;
}

/** Without fields at their defaults, which only add lines. */
function toYaml({ id, name, cases }: SuiteFile): string {
  const defaults: Record<string, unknown> = testCaseInput.parse({ name: 'x' });
  const short = cases.map(({ id: caseId, ...one }) => ({
    ...(caseId === undefined ? {} : { id: caseId }),
    ...Object.fromEntries(
      Object.entries(one).filter(
        ([field, value]) => JSON.stringify(value) !== JSON.stringify(defaults[field]),
      ),
    ),
  }));
  return stringify({ ...(id === undefined ? {} : { id }), name, cases: short });
}
