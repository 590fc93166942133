import type { TestSuite, TestSuiteStore } from '../../../agents/testSuites/testSuite.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { insertRow } from '../sql/rows.ts';

const COLUMNS = `id, project_id, name, created_at, updated_at,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', test_case_id) ORDER BY position), '[]'::jsonb)
   FROM test_suite_cases WHERE test_suite_id = test_suites.id) AS test_cases`;

export function testSuiteStore(database: Queryable): TestSuiteStore {
  const rows = projectRows<TestSuite>(database, 'test_suites', COLUMNS);
  return {
    find: rows.find,
    list: rows.list,
    remove: rows.remove,
    async insert(suite) {
      await insertRow(database, 'test_suites', {
        id: suite.id,
        project_id: suite.projectId,
        name: suite.name,
        created_at: suite.createdAt,
        updated_at: suite.updatedAt,
      });
      await connect(database, suite);
    },
    async update(suite) {
      await rows.update(suite.projectId, suite.id, { name: suite.name, updated_at: suite.updatedAt });
      await database.query('DELETE FROM test_suite_cases WHERE test_suite_id = $1', [suite.id]);
      await connect(database, suite);
    },
  };
}

async function connect(database: Queryable, suite: TestSuite): Promise<void> {
  if (suite.testCases.length === 0) return;
  await database.query(
    `INSERT INTO test_suite_cases (test_suite_id, test_case_id, position)
     SELECT $1::uuid, id, position FROM unnest($2::uuid[]) WITH ORDINALITY AS listed (id, position)`,
    [suite.id, suite.testCases.map(({ id }) => id)],
  );
}
