import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { type Api, bodyOf } from '../../api/client.ts';
import type { components, paths } from '../../api/schema.d.ts';

export type TestCase = components['schemas']['TestCase'];
export type TestSuite = components['schemas']['TestSuite'];
export type TestRun = components['schemas']['TestRun'];
export type ListedRun = components['schemas']['ListedTestRun'];
export type PlayedCase = TestRun['cases'][number];
export type Play = PlayedCase['runs'][number];
export type Verdict = Play['assertions'][number];
export type Status = PlayedCase['status'];

/** What a request for a new case holds. */
export type CaseInput =
  paths['/v1/projects/{projectId}/test-cases']['post']['requestBody']['content']['application/json'];
export type Turn = NonNullable<CaseInput['turns']>[number];
export type Assertion = NonNullable<CaseInput['assertions']>[number];
export type ToolMock = NonNullable<CaseInput['toolMocks']>[number];

/** What a request for a run holds. */
export type RunInput = NonNullable<
  NonNullable<
    paths['/v1/projects/{projectId}/test-suites/{testSuiteId}/runs']['post']['requestBody']
  >['content']['application/json']
>;

/** A list of a project is read whole: suites have at most this many cases, and choices need all. */
const LIST_LIMIT = 200;
const MAX_CASES = 1_000;

/** All of a project's cases, with which suites and runs name theirs. */
export function casesQuery(api: Api, projectId: string) {
  return queryOptions({
    queryKey: ['test-cases', projectId],
    queryFn: () =>
      allOf((cursor) =>
        bodyOf(
          api.GET('/v1/projects/{projectId}/test-cases', {
            params: {
              path: { projectId },
              query: { limit: `${LIST_LIMIT}`, ...(cursor !== undefined && { cursor }) },
            },
          }),
        ),
      ),
  });
}

export function useCases(projectId: string) {
  return useQuery(casesQuery(useApi(), projectId));
}

export function useSuites(projectId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['test-suites', projectId],
    queryFn: () =>
      allOf((cursor) =>
        bodyOf(
          api.GET('/v1/projects/{projectId}/test-suites', {
            params: {
              path: { projectId },
              query: { limit: `${LIST_LIMIT}`, ...(cursor !== undefined && { cursor }) },
            },
          }),
        ),
      ),
  });
}

/** Events tell of each play; this is for a stream that was lost. */
const READ_RUN_EVERY_MS = 10_000;

/** A run; while it goes on, what has been played so far. */
export function runQuery(api: Api, projectId: string, testRunId: string) {
  return queryOptions({
    queryKey: ['test-run', testRunId],
    queryFn: async () => {
      const params = { path: { projectId, testRunId } };
      const { data } = await bodyOf(api.GET('/v1/projects/{projectId}/test-runs/{testRunId}', { params }));
      return data;
    },
    refetchInterval: ({ state }) => (state.data && state.data.endedAt === null ? READ_RUN_EVERY_MS : false),
  });
}

export const RUNS_PAGE_SIZE = 20;

/** A page of runs, the newest first. */
export function useRuns(projectId: string, page: number, testSuiteId?: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['test-runs', projectId, testSuiteId, page],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/test-runs', {
          params: {
            path: { projectId },
            query: {
              limit: `${RUNS_PAGE_SIZE}`,
              offset: `${(page - 1) * RUNS_PAGE_SIZE}`,
              ...(testSuiteId !== undefined && { testSuiteId }),
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    // A run that has just ended can be chosen as a baseline.
    staleTime: 0,
  });
}

interface ListPage<Item> {
  data: Item[];
  pagination: { nextCursor?: string | null | undefined };
}

async function allOf<Item>(read: (cursor: string | undefined) => Promise<ListPage<Item>>): Promise<Item[]> {
  const found: Item[] = [];
  let cursor: string | undefined;
  do {
    const { data, pagination } = await read(cursor);
    found.push(...data);
    cursor = pagination.nextCursor ?? undefined;
  } while (cursor !== undefined && found.length < MAX_CASES);
  return found;
}
