import { isUuid } from '../base/ids.ts';
import type { TestSuiteStore } from '../suites/stores.ts';
import type { TestSuite } from '../suites/testSuite.ts';
import type { Queryable } from './database.ts';
import { isoTime, mapPage, queryPage } from './rows.ts';

interface Row {
  id: string;
  project_id: string;
  name: string;
  test_cases: { id: string }[];
  created_at: Date;
  updated_at: Date;
}

const SELECT = `SELECT id, project_id, name, created_at, updated_at,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', test_case_id) ORDER BY position), '[]'::jsonb)
   FROM test_suite_cases WHERE test_suite_id = test_suites.id) AS test_cases
  FROM test_suites`;

export function testSuiteStore(database: Queryable): TestSuiteStore {
  return {
    async insert(suite) {
      await database.query(
        'INSERT INTO test_suites (id, project_id, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)',
        [suite.id, suite.projectId, suite.name, suite.createdAt, suite.updatedAt],
      );
      await connect(database, suite);
    },
    async find(projectId, testSuiteId, lock) {
      if (!isUuid(testSuiteId)) return undefined;
      const [row] = await database.query<Row>(
        `${SELECT} WHERE project_id = $1 AND id = $2 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId, testSuiteId],
      );
      return row && fromRow(row);
    },
    async list(projectId, page) {
      const select = `${SELECT} WHERE project_id = $1 ORDER BY created_at, id`;
      return mapPage(await queryPage<Row>(database, select, [projectId], page), fromRow);
    },
    async update(suite) {
      await database.query(
        'UPDATE test_suites SET name = $3, updated_at = $4 WHERE id = $1 AND project_id = $2',
        [suite.id, suite.projectId, suite.name, suite.updatedAt],
      );
      await database.query('DELETE FROM test_suite_cases WHERE test_suite_id = $1', [suite.id]);
      await connect(database, suite);
    },
    async remove(projectId, testSuiteId) {
      if (!isUuid(testSuiteId)) return false;
      const rows = await database.query(
        'DELETE FROM test_suites WHERE project_id = $1 AND id = $2 RETURNING id',
        [projectId, testSuiteId],
      );
      return rows.length > 0;
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
