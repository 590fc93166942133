import type { TestSuite } from '../../../agents/testSuites/testSuite.ts';
import type { TestSuiteStore } from '../../../agents/testSuites/testSuiteStores.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime } from '../sql/rows.ts';

interface Row {
  id: string;
  project_id: string;
  name: string;
  test_cases: { id: string }[];
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `id, project_id, name, created_at, updated_at,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', test_case_id) ORDER BY position), '[]'::jsonb)
   FROM test_suite_cases WHERE test_suite_id = test_suites.id) AS test_cases`;

export function testSuiteStore(database: Queryable): TestSuiteStore {
  const rows = projectRows<Row>(database, 'test_suites', COLUMNS);
  return {
    async insert(suite) {
      await database.query(
        'INSERT INTO test_suites (id, project_id, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)',
        [suite.id, suite.projectId, suite.name, suite.createdAt, suite.updatedAt],
      );
      await connect(database, suite);
    },
    async find(projectId, testSuiteId, lock) {
      const row = await rows.find(projectId, testSuiteId, lock);
      return row && fromRow(row);
    },
    list: async (projectId, page) => mapPage(await rows.list(projectId, page), fromRow),
    remove: rows.remove,
    async update(suite) {
      await database.query(
        'UPDATE test_suites SET name = $3, updated_at = $4 WHERE id = $1 AND project_id = $2',
        [suite.id, suite.projectId, suite.name, suite.updatedAt],
      );
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

function fromRow(row: Row): TestSuite {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    testCases: row.test_cases,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
