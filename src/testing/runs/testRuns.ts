import type { AgentRelease } from '../../agents/releases/release.ts';
import type { TestCase } from '../../agents/testSuites/testCase.ts';
import { CallwayError, notFound } from '../../base/errors.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { ReleaseName } from '../../base/values/releaseName.ts';
import { type Campaign, isOver } from '../../campaigns/campaign.ts';
import type { ContactStore } from '../../campaigns/campaignStore.ts';
import { wrongState } from '../../campaigns/campaigns.ts';
import type { HistoryStore } from '../../engine/history/historyStore.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { WakeWork } from '../../work/work.ts';
import { replayOf } from '../cases/caseFromSession.ts';
import { rehearsalOf } from '../rehearsal/rehearsal.ts';
import { type CreateRunStores, createRun, runCaseOf, type WantedRun } from './createRun.ts';
import { showRun } from './showRun.ts';
import type { RunInput, RunStatus, TestRun } from './testRun.ts';
import type { RunDetail, TestRunStore } from './testRunStore.ts';

/** A run copies its cases. */
const MAX_SUITE_BYTES = 16 * 1024 ** 2;

export interface TestRunsDeps {
  readonly testRuns: TestRunStore;
  readonly testCases: { find(projectId: string, testCaseId: string): Promise<TestCase | undefined> };
  readonly history: HistoryStore;
  readonly releaseFor: (projectId: string, version?: ReleaseName) => Promise<AgentRelease>;
  /** @throws {CallwayError} 429 `quota_exceeded` */
  readonly requireVendorQuotas: (projectId: string) => Promise<void>;
  /** Tells nodes that play chats, and those that place calls. */
  readonly wake: Readonly<Record<'chat' | 'phone', WakeWork>>;
  /** Publishes live events; undefined when nothing subscribes to them, as in unit tests. */
  readonly liveEvents?: LiveEvents | undefined;
  /** Signs a URL of a recording. */
  readonly recordingUrl: (key: string) => string;
  readonly clock: { now(): number };
  readonly makeId: MakeId;
}

/** The subject of a run: a suite, a case, the replay of a session, or a campaign's contacts. */
export type RunSubject = Pick<WantedRun, 'testSuiteId' | 'name' | 'cases' | 'replaysSessionId'>;

/** Starts, shows and cancels test runs. */
export class TestRuns {
  readonly #deps: TestRunsDeps;

  constructor(deps: TestRunsDeps) {
    this.#deps = deps;
  }

  /** @throws {CallwayError} 404 `test_suite_not_found`, 413 `test_suite_too_large` */
  async suite(projectId: string, testSuiteId: string): Promise<RunSubject> {
    const suite = await this.#deps.testRuns.casesOf(projectId, testSuiteId, MAX_SUITE_BYTES);
    if (!suite) throw notFound('Test suite');
    const { name, cases } = suite;
    if (!cases)
      throw new CallwayError(
        'too_large',
        'test_suite_too_large',
        `The cases of this suite have more than ${MAX_SUITE_BYTES / 1024 ** 2} MiB together: run them in several suites`,
      );
    return { testSuiteId: testSuiteId.toLowerCase(), name, cases: cases.map(runCaseOf) };
  }

  /** @throws {CallwayError} 404 `test_case_not_found` */
  async case(projectId: string, testCaseId: string): Promise<RunSubject> {
    const testCase = await this.#deps.testCases.find(projectId, testCaseId);
    if (!testCase) throw notFound('Test case');
    return { testSuiteId: null, name: testCase.name, cases: [runCaseOf(testCase)] };
  }

  /** @throws {CallwayError} 404 `session_not_found`, 400 where the person did nothing. */
  async replay(projectId: string, sessionId: string): Promise<RunSubject> {
    const session = await this.#deps.history.find(projectId, sessionId);
    if (!session) throw notFound('Session');
    const played = replayOf(session);
    return { testSuiteId: null, name: played.name, cases: [played], replaysSessionId: sessionId };
  }

  /**
   * Plays the first contacts of a campaign that are still to be called.
   *
   * @throws {CallwayError} 409 `campaign_state`, `no_contacts`
   */
  async rehearsal(
    contacts: ContactStore,
    campaign: Campaign,
    limit: number,
    seed: number,
  ): Promise<RunSubject> {
    if (isOver(campaign)) throw wrongState(campaign, 'is not rehearsed');
    const left = { status: ['pending', 'waiting'] } as const;
    const { items } = await contacts.list(campaign.id, left, { limit, offset: 0 });
    return rehearsalOf(campaign, items, seed);
  }

  /**
   * Checks the quotas of vendors, and reads the release that a run plays against; both before the
   * transaction that makes the run.
   *
   * @throws {CallwayError} 404 `release_not_found`, 429 `quota_exceeded`.
   */
  async release(projectId: string, { version, release }: RunInput): Promise<AgentRelease> {
    await this.#deps.requireVendorQuotas(projectId);
    return await this.#deps.releaseFor(projectId, release ?? (version === 'draft' ? version : undefined));
  }

  /** Makes a run in a transaction. @throws {CallwayError} What {@link createRun} throws. */
  async create(
    stores: CreateRunStores,
    projectId: string,
    wanted: RunSubject & Pick<WantedRun, 'input' | 'release'>,
  ): Promise<TestRun> {
    const { clock, makeId } = this.#deps;
    const now = new Date(clock.now()).toISOString();
    return showRun(await createRun(stores, { projectId, runId: makeId(), ...wanted, now }));
  }

  /** Tells nodes of a stored run. Never rejects. */
  async announce(
    { id, projectId, concurrency, status }: TestRun,
    { cases }: RunSubject,
    { channel }: RunInput,
  ): Promise<void> {
    this.#tell(projectId, id, status);
    const channels = new Set(channel ? [channel] : cases.map(({ definition }) => definition.channel));
    for (const played of channels)
      for (let lane = 0; lane < concurrency; lane += 1)
        await this.#deps.wake[played === 'phone' ? 'phone' : 'chat'](`${id}-${played}-${lane}`);
  }

  /** @throws {CallwayError} 404 `test_run_not_found` */
  async find(projectId: string, runId: string): Promise<TestRun> {
    const detail = await this.#detail(projectId, runId);
    const { baselineRunId } = detail.run;
    const baseline =
      baselineRunId === null ? undefined : await this.#deps.testRuns.find(projectId, baselineRunId);
    return showRun(detail, { baseline, recordingUrl: this.#deps.recordingUrl });
  }

  /** Finds a run with the transcripts of its plays. @throws {CallwayError} 404 `test_run_not_found` */
  detail(projectId: string, runId: string): Promise<RunDetail> {
    return this.#detail(projectId, runId, { withTranscripts: true });
  }

  /** @throws {CallwayError} 404 `test_run_not_found`, 409 `test_run_ended` */
  async cancel(projectId: string, runId: string): Promise<TestRun> {
    const { testRuns, clock } = this.#deps;
    const before = await this.#detail(projectId, runId);
    const canceled = await testRuns.cancel(projectId, before.run.id, new Date(clock.now()).toISOString());
    const run = await this.find(projectId, runId);
    if (canceled) this.#tell(projectId, run.id, run.status);
    if (!canceled && run.status !== 'canceled')
      throw new CallwayError('conflict', 'test_run_ended', `The test run has ended already: ${run.status}`);
    return run;
  }

  #tell(projectId: string, testRunId: string, status: RunStatus): void {
    this.#deps.liveEvents?.publish({ type: 'test.updated', projectId, data: { testRunId, status } });
  }

  async #detail(
    projectId: string,
    runId: string,
    options?: { readonly withTranscripts: boolean },
  ): Promise<RunDetail> {
    const detail = await this.#deps.testRuns.find(projectId, runId, options);
    if (!detail) throw notFound('Test run');
    return detail;
  }
}
