import { createHash, randomInt } from 'node:crypto';
import { type QuotaStore, requireQuota } from '../../agents/accounts/quotas.ts';
import type { AgentRelease } from '../../agents/releases/release.ts';
import type { TestCase } from '../../agents/testSuites/testCase.ts';
import { invalid, notFound } from '../../base/errors.ts';
import { isUuid } from '../../base/values/ids.ts';
import type { RunInput } from './testRun.ts';
import type { PlayedDefinition, RunCase, RunDetail, StoredRun, TestRunStore } from './testRunStore.ts';

/** The most checks in one run, so that its result can be shown. */
const MAX_CHECKS = 20_000;
/** Ended runs that a project keeps. */
const KEPT_RUNS = 500;
const SEEDS = 2 ** 31;

/** The stores of the transaction that creates a run. */
export interface CreateRunStores {
  readonly testRuns: TestRunStore;
  readonly quotas: QuotaStore;
  readonly releases: { keep(projectId: string, release: AgentRelease): Promise<string> };
}

export interface WantedRun {
  readonly projectId: string;
  readonly runId: string;
  readonly testSuiteId: string | null;
  readonly name: string;
  readonly cases: readonly RunCase[];
  readonly input: RunInput;
  /** Read before the transaction. */
  readonly release: AgentRelease;
  /** ISO 8601. */
  readonly now: string;
  /** Id of the session that is replayed. */
  readonly replaysSessionId?: string;
}

/**
 * Makes a run with its plays, in the transaction.
 *
 * @throws {CallwayError} 404 for an unknown baseline, 400 for a run without cases or with too many assertions, 429
 *   `quota_exceeded`.
 */
export async function createRun(stores: CreateRunStores, wanted: WantedRun): Promise<RunDetail> {
  const { projectId, runId, input, release, now } = wanted;
  const {
    repeat,
    concurrency,
    version,
    channel,
    mode,
    model,
    baselineRunId,
    seed = randomInt(SEEDS),
  } = input;
  const cases = channel ? wanted.cases.map((one) => over(channel, one)) : wanted.cases;
  if (cases.length === 0) throw invalid('no_test_cases', 'The test suite has no test cases to run');
  const checks = cases.reduce((sum, { definition }) => sum + checksOf(definition), 0) * repeat;
  if (checks > MAX_CHECKS)
    throw invalid(
      'too_many_assertions',
      `This run has ${checks} assertions to judge, with its repeats; ${MAX_CHECKS} are possible: run fewer cases or repeats`,
    );
  if (baselineRunId !== undefined) await requireRun(stores.testRuns, projectId, baselineRunId);
  await requireQuota(stores, projectId, 'testRuns', cases.length * repeat);
  const run: StoredRun = {
    id: runId,
    projectId,
    testSuiteId: wanted.testSuiteId,
    name: wanted.name,
    status: 'queued',
    version,
    release: release.number ?? null,
    mode: mode ?? null,
    model: model ?? null,
    repeat,
    concurrency,
    seed,
    baselineRunId: baselineRunId ?? null,
    releaseId: await stores.releases.keep(projectId, playedRelease(release, input)),
    replaysSessionId: wanted.replaysSessionId ?? null,
    createdAt: now,
    startedAt: null,
    endedAt: null,
  };
  const plays = Array.from({ length: repeat }, (_, index) =>
    cases.map(({ testCaseId, contactId, name }, position) => ({
      position,
      index,
      seed: seedOf(seed, testCaseId ?? contactId ?? name, index),
    })),
  ).flat();
  await stores.testRuns.insert({ run, cases, plays });
  await stores.testRuns.trim(projectId, KEPT_RUNS);
  return {
    run,
    cases,
    plays: plays.map((play) => ({ ...play, status: 'queued' as const, result: null })),
  };
}

/** A release as a run plays it: one model answers at all nodes where the run names one. */
function playedRelease(release: AgentRelease, { mode, model }: RunInput): AgentRelease {
  const { agent, pathway } = release;
  const executionMode = mode ?? agent.executionMode;
  if (model === undefined) return { ...release, agent: { ...agent, executionMode } };
  const nodes = pathway.nodes.map((node) => {
    if (!node.data.chat) return node;
    const { model: _model, endpoint: _endpoint, fallback: _fallback, ...chat } = node.data.chat;
    return { ...node, data: { ...node.data, chat } } as typeof node;
  });
  return {
    ...release,
    agent: { ...agent, executionMode, chat: { ...agent.chat, model, fallback: [] } },
    pathway: { ...pathway, nodes },
  };
}

export function runCaseOf({ id, name, ...testCase }: TestCase): RunCase {
  const { channel, persona, variables, turns, toolMocks, allowRealTools, phone, assertions } = testCase;
  const definition = { channel, persona, variables, turns, toolMocks, allowRealTools, phone, assertions };
  return { testCaseId: id, name, definition };
}

function over(channel: RunCase['definition']['channel'], one: RunCase): RunCase {
  return { ...one, definition: { ...one.definition, channel } };
}

async function requireRun(testRuns: TestRunStore, projectId: string, runId: string): Promise<void> {
  if (!isUuid(runId) || !(await testRuns.find(projectId, runId))) throw notFound('Test run');
}

function checksOf({ turns, assertions }: PlayedDefinition): number {
  return assertions.length + (turns ?? []).filter((turn) => 'expect' in turn).length;
}

/** The same for the same run's seed, case and repeat. */
function seedOf(seed: number, name: string, index: number): number {
  return createHash('sha256').update(`${seed} ${name} ${index}`).digest().readUInt32BE() % SEEDS;
}
