import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMap, isScalar, isSeq, parse, parseDocument, type Scalar, stringify } from 'yaml';
import { z } from 'zod';
import { testCaseInput } from '../agents/testSuites/testCase.ts';
import { zodDetails } from '../base/validation.ts';
import { CommandError, EXIT } from './command.ts';

/** A suite in a file, with its cases. Without an id it is created. */
const suiteSchema = z.strictObject({
  id: z.string().optional(),
  name: z.string().min(1),
  cases: z.array(testCaseInput.extend({ id: z.string().optional() })),
});
/** The JSON Schema of a suite's file, for editors. */
export const suiteJsonSchema = {
  ...z.toJSONSchema(suiteSchema, { io: 'input', unrepresentable: 'any' }),
  title: 'A suite of Callway test cases',
};
export const SCHEMA_FILE = 'test-suite.schema.json';
/** Read by the editors' YAML language server. */
export const SCHEMA_LINE = `# yaml-language-server: $schema=./${SCHEMA_FILE}\n`;

export type Suite = z.output<typeof suiteSchema>;

export interface SuiteFile {
  readonly file: string;
  /** The file's text as it is written. */
  readonly text: string;
  readonly suite: Suite;
}

/** @throws {CommandError} For a file that is no suite. */
export async function readSuites(folder: string): Promise<SuiteFile[]> {
  const entries = await readdir(folder).catch(() => []);
  const names = entries.filter((name) => /\.ya?ml$/.test(name)).toSorted();
  return await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const text = await readFile(file, 'utf8');
      return { file, text, suite: readSuite(file, text) };
    }),
  );
}

function readSuite(file: string, text: string): Suite {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(EXIT.refused, `${file} is no YAML: ${reason}`, { cause: error });
  }
  const parsed = suiteSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  const problems = zodDetails(parsed.error).map(({ path, message }) => `\n  ${path}: ${message}`);
  throw new CommandError(EXIT.refused, `${file} is no test suite:${problems.join('')}`);
}

/** The text of a new file, without fields at their defaults, which only add lines. */
export function suiteText({ id, name, cases }: Suite): string {
  const defaults: Record<string, unknown> = testCaseInput.parse({ name: 'x' });
  const short = cases.map(({ id: caseId, ...one }) => ({
    id: caseId,
    ...Object.fromEntries(
      Object.entries(one).filter(
        ([field, value]) => JSON.stringify(value) !== JSON.stringify(defaults[field]),
      ),
    ),
  }));
  return `${SCHEMA_LINE}${stringify({ id, name, cases: short })}`;
}

/** Writes ids into a file's text; its comments stay. @param caseIds - By place; undefined leaves a case as it is. */
export function withIds(
  text: string,
  id: string | undefined,
  caseIds: readonly (string | undefined)[],
): string {
  const document = parseDocument(text);
  const cases = document.get('cases');
  const places = [
    { map: document.contents as unknown, id },
    ...(isSeq(cases) ? caseIds.map((caseId, at) => ({ map: cases.items[at], id: caseId })) : []),
  ];
  for (const place of places) {
    if (!isMap(place.map) || place.id === undefined || place.map.get('id') === place.id) continue;
    if (place.map.has('id')) place.map.set('id', place.id);
    else {
      const first = place.map.items[0]?.key;
      const added = document.createPair<Scalar, Scalar>('id', place.id);
      // A comment above the first field stays above all of them.
      if (isScalar(first))
        [added.key.commentBefore, first.commentBefore] = [first.commentBefore ?? null, null];
      place.map.items.unshift(added);
    }
  }
  return document.toString({ lineWidth: 0 });
}
