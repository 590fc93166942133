import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { testCase } from '../agents/testSuites/testCase.ts';
import { parseResponse } from './apiClient.ts';
import { CommandError, EXIT } from './command.ts';
import type { ProjectSession } from './projectSession.ts';
import {
  readSuites,
  SCHEMA_FILE,
  SCHEMA_LINE,
  type Suite,
  type SuiteFile,
  suiteJsonSchema,
  suiteText,
  withIds,
} from './suiteFile.ts';

const suiteData = z.object({
  id: z.string(),
  name: z.string(),
  testCases: z.array(z.object({ id: z.string() })),
});
const caseData = z.object({ id: z.string(), name: z.string() });

/** The suites and cases of a project. */
interface Stored {
  readonly suites: readonly z.infer<typeof suiteData>[];
  readonly cases: readonly z.infer<typeof caseData>[];
}

/** File systems allow 255 bytes. */
const MAX_FILE_NAME_CHARACTERS = 60;

const EXAMPLE = `${SCHEMA_LINE}# A suite of test cases. "callway test push" creates it and adds the ids.
name: Before each release
cases:
  - name: Greets the caller
    turns:
      - say: Hello
      - expect: { type: max_latency_ms, value: 3000 }
    assertions:
      - { type: not_said, value: as an AI }
`;

/** Writes an example. @returns Its file. @throws {CommandError} When it exists already. */
export async function initSuites(folder: string): Promise<string> {
  const file = join(folder, 'before-each-release.yaml');
  await makeFolder(folder);
  await writeFile(file, EXAMPLE, { flag: 'wx' }).catch((error: unknown) => {
    throw new CommandError(EXIT.refused, `${file} exists already.`, { cause: error });
  });
  return file;
}

/**
 * Creates and updates suites and cases; ids of new ones are written to their files. What has no id, or one that the project
 * does not have, takes the place of the suite or the suite's case of its name, so that a second push adds nothing.
 */
export async function pushSuites(
  session: ProjectSession,
  folder: string,
  names: readonly string[],
): Promise<{ name: string; cases: number }[]> {
  const { api, path } = session;
  const files = await readSuites(folder);
  if (files.length === 0)
    throw new CommandError(EXIT.refused, `There is no test suite (*.yaml) in ${folder}.`);
  const chosen = choose(files, ({ suite }) => suite, names);
  const stored: Stored = {
    suites: await api.list(`${path}/test-suites`, suiteData),
    cases: await api.list(`${path}/test-cases`, caseData),
  };
  const claimed = new Set(chosen.flatMap(({ suite }) => suite.id ?? []));
  const pushed = [];
  for (const one of chosen) {
    const before = storedSuite(one.suite, stored.suites, claimed);
    const id = await pushFile(session, one, before, stored.cases);
    claimed.add(id);
    pushed.push({ name: one.suite.name, cases: one.suite.cases.length });
  }
  return pushed;
}

/** Writes suites with their cases, to the file that has them or to a new one. */
export async function pullSuites(
  { api, path, connection }: ProjectSession,
  folder: string,
  names: readonly string[],
): Promise<{ name: string; file: string }[]> {
  const known = await readSuites(folder);
  const suites = choose(await api.list(`${path}/test-suites`, suiteData), (suite) => suite, names);
  await makeFolder(folder);
  const taken = new Set(known.map(({ file }) => file));
  const pulled = [];
  for (const { id, name, testCases } of suites) {
    const cases: Suite['cases'] = [];
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
    await writeFile(file, suiteText({ id, name, cases }));
    pulled.push({ name, file });
  }
  return pulled;
}

/** Makes a folder for suites, with the schema that their files name. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, SCHEMA_FILE), `${JSON.stringify(suiteJsonSchema, null, 2)}\n`);
}

async function pushFile(
  { api, path, connection }: ProjectSession,
  { file, text, suite }: SuiteFile,
  before: Stored['suites'][number] | undefined,
  known: Stored['cases'],
): Promise<string> {
  const caseIds = storedCases(suite, before, known);
  let id = before?.id;
  const save = async <Answer>(
    collection: string,
    storedId: string | undefined,
    body: unknown,
    answer: z.ZodType<Answer>,
  ) =>
    parseResponse(
      answer,
      await (storedId === undefined
        ? api.request('POST', `${path}/${collection}`, body)
        : api.request('PUT', `${path}/${collection}/${encodeURIComponent(storedId)}`, body)),
      connection,
    );
  try {
    for (const [at, { id: _id, ...input }] of suite.cases.entries())
      caseIds[at] = (await save('test-cases', caseIds[at], input, testCase)).id;
    const body = { name: suite.name, testCaseIds: caseIds };
    id = (await save('test-suites', id, body, z.object({ data: suiteData }))).data.id;
    return id;
  } finally {
    // Also where a case was refused: the next push then updates what this one has created.
    if (id !== suite.id || caseIds.some((caseId, at) => caseId !== suite.cases[at]?.id))
      await writeFile(file, withIds(text, id, caseIds));
  }
}

/** @param claimed - Ids that belong to other files. */
function storedSuite(
  { id, name }: Suite,
  suites: Stored['suites'],
  claimed: ReadonlySet<string>,
): Stored['suites'][number] | undefined {
  const [named, ...others] = suites.filter((one) => one.name === name && !claimed.has(one.id));
  return suites.find((one) => one.id === id) ?? (others.length === 0 ? named : undefined);
}

/** The ids of a suite's cases in the project; undefined for new ones. */
function storedCases(
  { cases }: Suite,
  before: Stored['suites'][number] | undefined,
  stored: Stored['cases'],
): (string | undefined)[] {
  const kept = cases.map(({ id }) => stored.find((one) => one.id === id)?.id);
  const free = (before?.testCases ?? []).flatMap(
    ({ id }) => stored.find((one) => one.id === id && !kept.includes(id)) ?? [],
  );
  return cases.map(({ name }, at) => {
    if (kept[at] !== undefined) return kept[at];
    const found = free.findIndex((one) => one.name === name);
    return found < 0 ? undefined : free.splice(found, 1)[0]?.id;
  });
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
      .slice(0, MAX_FILE_NAME_CHARACTERS)
      .replaceAll(/^-|-$/g, '') || id;
  const file = join(folder, `${slug}.yaml`);
  return taken.has(file) ? join(folder, `${slug}-${id}.yaml`) : file;
}
