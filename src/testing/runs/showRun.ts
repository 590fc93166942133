import { toReleaseName } from '../../base/values/releaseName.ts';
import { type Remark, remarkText } from '../assertions/remark.ts';
import { REHEARSAL_OUTCOMES, type RehearsalOutcome } from '../rehearsal/callee.ts';
import type { CaseStatus, Play, PlayedCase, PlayStatus, Summary, TestRun } from './testRun.ts';
import type { RunDetail, StoredPlay } from './testRunStore.ts';

/** The normal distribution's 97.5th percentile: an interval of 95 %. */
const Z = 1.959_964;

/** A smaller slowdown may be chance. */
const SLOWER_FACTOR = 1.2;
const SLOWER_MS = 50;

export interface ShowRunOptions {
  /** The run that it is compared with. */
  readonly baseline?: RunDetail | undefined;
  /** Signs a URL of a recording. */
  readonly recordingUrl?: (key: string) => string;
}

export function showRun(
  { run, cases, plays }: RunDetail,
  { baseline, recordingUrl }: ShowRunOptions = {},
): TestRun {
  const byCase = cases.map((): StoredPlay[] => []);
  for (const play of plays) byCase[play.position]?.push(play);
  const shown = cases.map((one, position) => showCase(one, byCase[position] ?? [], recordingUrl));
  const { baselineRunId: _baseline, releaseId: _release, replaysSessionId: _replayed, ...fields } = run;
  const isComparable = run.endedAt !== null && baseline?.run.endedAt;
  return {
    ...fields,
    release: toReleaseName(run.release),
    summary: summaryOf(shown.map(({ status }) => status)),
    comparison: isComparable ? compare(shown, showRun(baseline).cases) : undefined,
    outcomes: outcomesOf(shown),
    cases: shown,
  };
}

export function summaryOf(statuses: readonly CaseStatus[]): Summary {
  const count = (status: CaseStatus) => statuses.filter((one) => one === status).length;
  return { passed: count('passed'), failed: count('failed'), flaky: count('flaky'), errors: count('error') };
}

/** Returns the status of a case: it is decided once all of its plays have ended. */
export function caseStatusOf(statuses: readonly PlayStatus[]): CaseStatus {
  const has = (status: PlayStatus) => statuses.includes(status);
  if (has('running')) return 'running';
  if (has('queued')) return statuses.every((status) => status === 'queued') ? 'queued' : 'running';
  if (has('error')) return 'error';
  if (has('canceled')) return 'canceled';
  if (has('passed') && has('failed')) return 'flaky';
  return has('failed') ? 'failed' : 'passed';
}

/** Counts the contacts of a rehearsal; undefined for another run. */
function outcomesOf(cases: readonly PlayedCase[]): TestRun['outcomes'] {
  if (!cases.some(({ contactId }) => contactId !== undefined)) return undefined;
  const count = (wanted: RehearsalOutcome) => cases.filter(({ outcome }) => outcome === wanted).length;
  return Object.fromEntries(REHEARSAL_OUTCOMES.map((outcome) => [outcome, count(outcome)])) as Record<
    RehearsalOutcome,
    number
  >;
}

function showCase(
  { testCaseId, contactId, name }: RunDetail['cases'][number],
  plays: readonly StoredPlay[],
  recordingUrl: ShowRunOptions['recordingUrl'],
): PlayedCase {
  const statuses = plays.map(({ status }) => status);
  const passed = statuses.filter((status) => status === 'passed').length;
  const failed = statuses.filter((status) => status === 'failed').length;
  const latencies = plays.flatMap(({ result }) => result?.latenciesMs ?? []);
  return {
    testCaseId: contactId ? undefined : testCaseId,
    contactId: contactId ?? undefined,
    outcome: plays.find(({ result }) => result?.outcome)?.result?.outcome,
    name,
    status: caseStatusOf(statuses),
    passed,
    failed,
    passRate: passed + failed === 0 ? null : wilson(passed, passed + failed),
    latencyMs: { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) },
    runs: plays.map((play) => showPlay(play, recordingUrl)),
  };
}

function showPlay(
  { index, seed, status, result }: StoredPlay,
  recordingUrl: ShowRunOptions['recordingUrl'],
): Play {
  const { sessionId, recordingKey, error, verdicts = [], replay } = result ?? {};
  return {
    index,
    seed,
    status,
    sessionId,
    recordingUrl: recordingKey === undefined ? undefined : recordingUrl?.(recordingKey),
    error: error && remarkText(error),
    assertions: verdicts.map(({ type, seen, reason, ...verdict }) => ({
      ...verdict,
      type,
      seen: type === 'judge' ? remarkText(seen as Remark) : (seen as Play['assertions'][number]['seen']),
      reason: reason && remarkText(reason),
    })),
    replay: replay && [...replay],
  };
}

function compare(cases: readonly PlayedCase[], before: readonly PlayedCase[]) {
  const known = new Map(before.map((one) => [one.testCaseId, one]));
  const idsWhere = (holds: (now: PlayedCase, then: PlayedCase) => boolean) =>
    cases.flatMap((now) => {
      const then = known.get(now.testCaseId);
      return now.testCaseId && then && holds(now, then) ? [now.testCaseId] : [];
    });
  return {
    newlyFailing: idsWhere((now, then) => now.status !== 'passed' && then.status === 'passed'),
    newlyPassing: idsWhere((now, then) => now.status === 'passed' && then.status !== 'passed'),
    slower: idsWhere(({ latencyMs: { p95: now } }, { latencyMs: { p95: then } }) => isSlower(now, then)),
  };
}

function isSlower(nowMs: number | null, thenMs: number | null): boolean {
  if (nowMs === null || thenMs === null) return false;
  return nowMs > thenMs * SLOWER_FACTOR && nowMs > thenMs + SLOWER_MS;
}

/** The Wilson score interval of a share. @see Wilson, JASA 22 (1927) */
export function wilson(passed: number, total: number): { value: number; low: number; high: number } {
  const value = passed / total;
  const scale = 1 + Z ** 2 / total;
  const center = (value + Z ** 2 / (2 * total)) / scale;
  const half = (Z / scale) * Math.sqrt((value * (1 - value)) / total + Z ** 2 / (4 * total ** 2));
  return { value, low: rounded(Math.max(0, center - half)), high: rounded(Math.min(1, center + half)) };
}

/** Returns a percentile by nearest rank. @returns Null for no values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
