import type { TestCase } from '../../../agents/testSuites/testCase.ts';
import type { TestCaseStore } from '../../../agents/testSuites/testSuiteStores.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { newestSession } from '../sessions/newestSession.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime } from '../sql/rows.ts';

type Definition = Omit<TestCase, 'id' | 'projectId' | 'createdAt' | 'updatedAt'>;

interface Row {
  id: string;
  project_id: string;
  definition: Definition;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, project_id, definition, created_at, updated_at';

export function testCaseStore(database: Queryable): TestCaseStore {
  const rows = projectRows<Row>(database, 'test_cases', COLUMNS);
  return {
    async insert(testCase, sourceSessionId) {
      await database.query(
        `INSERT INTO test_cases (${COLUMNS}, source_instance_id) VALUES ($1, $2, $3, $4, $5, ${newestSession('$2', '$6')})`,
        [...toRow(testCase), sourceSessionId ?? null],
      );
    },
    async find(projectId, testCaseId, lock) {
      const row = await rows.find(projectId, testCaseId, lock);
      return row && fromRow(row);
    },
    list: async (projectId, page) => mapPage(await rows.list(projectId, page), fromRow),
    remove: rows.remove,
    async update(testCase) {
      await database.query(
        `UPDATE test_cases SET definition = $3, created_at = $4, updated_at = $5
         WHERE id = $1 AND project_id = $2`,
        toRow(testCase),
      );
    },
    async known(projectId, testCaseIds) {
      const rows = await database.query<{ id: string }>(
        'SELECT id FROM test_cases WHERE project_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR KEY SHARE',
        [projectId, testCaseIds.filter(isUuid)],
      );
      return new Set(rows.map(({ id }) => id));
    },
  };
}

/** The cases of a suite, in its order; undefined when they are larger than `maxBytes`. */
export async function casesOfSuite(
  database: Queryable,
  projectId: string,
  testSuiteId: string,
  maxBytes: number,
): Promise<{ name: string; cases: TestCase[] | undefined } | undefined> {
  if (!isUuid(testSuiteId)) return undefined;
  const [suite] = await database.query<{ name: string; is_large: boolean }>(
    `SELECT name, coalesce((SELECT sum(octet_length(definition::text)) > $3 FROM test_cases
       JOIN test_suite_cases ON test_case_id = test_cases.id WHERE test_suite_id = $2), false) AS is_large
     FROM test_suites WHERE project_id = $1 AND id = $2`,
    [projectId, testSuiteId, maxBytes],
  );
  if (!suite) return undefined;
  if (suite.is_large) return { name: suite.name, cases: undefined };
  const rows = await database.query<Row>(
    `SELECT ${COLUMNS} FROM test_cases JOIN test_suite_cases ON test_case_id = test_cases.id
     WHERE test_suite_id = $1 ORDER BY position`,
    [testSuiteId],
  );
  return { name: suite.name, cases: rows.map(fromRow) };
}

/** The defaults of fields that later releases added. */
const DEFAULTS = { toolMocks: [], allowRealTools: false, phone: null };

function toRow({ id, projectId, createdAt, updatedAt, ...definition }: TestCase): string[] {
  return [id, projectId, JSON.stringify(definition), createdAt, updatedAt];
}

function fromRow(row: Row): TestCase {
  return {
    id: row.id,
    projectId: row.project_id,
    ...DEFAULTS,
    ...row.definition,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
