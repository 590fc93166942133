import type { TestCase } from '../../../agents/testSuites/testCase.ts';
import type { TestCaseStore } from '../../../agents/testSuites/testSuite.ts';
import { isUuid } from '../../../base/values/ids.ts';
import type { Queryable } from '../connection/database.ts';
import { newestSession } from '../sessions/newestSession.ts';
import { projectRows } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';

/** A test case as its columns have it. */
type Stored = Pick<TestCase, 'id' | 'projectId' | 'createdAt' | 'updatedAt'> & {
  definition: Omit<TestCase, 'id' | 'projectId' | 'createdAt' | 'updatedAt'>;
};

const COLUMNS = 'id, project_id, definition, created_at, updated_at';

export function testCaseStore(database: Queryable): TestCaseStore {
  const { find, list, update, remove } = projectRows(database, 'test_cases', COLUMNS, fromRow);
  return {
    find,
    list,
    remove,
    async insert({ id, projectId, createdAt, updatedAt, ...definition }, sourceSessionId) {
      await database.query(
        `INSERT INTO test_cases (${COLUMNS}, source_instance_id) VALUES ($1, $2, $3, $4, $5, ${newestSession('$2', '$6')})`,
        [id, projectId, JSON.stringify(definition), createdAt, updatedAt, sourceSessionId ?? null],
      );
    },
    async update({ id, projectId, createdAt, updatedAt, ...definition }) {
      const changed = {
        definition: JSON.stringify(definition),
        created_at: createdAt,
        updated_at: updatedAt,
      };
      await update(projectId, id, changed);
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
  const rows = await database.query<object>(
    `SELECT ${COLUMNS} FROM test_cases JOIN test_suite_cases ON test_case_id = test_cases.id
     WHERE test_suite_id = $1 ORDER BY position`,
    [testSuiteId],
  );
  return { name: suite.name, cases: rows.map(fromRow) };
}

/** The defaults of fields that a stored case may not have. */
const DEFAULTS = { toolMocks: [], allowRealTools: false, phone: null };

function fromRow(row: object): TestCase {
  const { definition, ...rest } = fieldsOf<Stored>(row);
  return { ...DEFAULTS, ...definition, ...rest };
}
