import type { ReportLocale } from '../assertions/remark.ts';
import type { CaseStatus, RunStatus, TestRun } from '../runs/testRun.ts';

interface HtmlTexts {
  readonly statuses: Readonly<Record<RunStatus | CaseStatus, string>>;
  readonly columns: readonly string[];
  readonly summary: (run: TestRun) => string;
  readonly startedAt: (at: string | null) => string;
  readonly compared: (comparison: NonNullable<TestRun['comparison']>) => string;
  readonly part: (part: number, whole: number) => string;
  readonly interval: (low: string, high: string) => string;
  readonly unsuccessful: string;
  readonly more: (plays: number) => string;
  readonly recorded: string;
  readonly seed: (seed: number) => string;
  readonly before: string;
  readonly now: string;
  /** @param turn - The turn, from 0. */
  readonly turn: (turn: number) => string;
  readonly seconds: (seconds: string) => string;
  /** Stands between what is wrong and the reason. */
  readonly colon: string;
  readonly seen: string;
  readonly gone: string;
  /** @param link - An element `a` for the text of `link`. */
  readonly tooLong: (link: (text: string) => string) => string;
  readonly unreadable: string;
  readonly latency: string;
  readonly latencyOf: (answers: number, highestMs: number) => string;
  /** Translates a reason of the offline model. The words of other models stay. */
  readonly said: (text: string) => string;
}

/** The words of the offline model, which judges by rule. */
const RULE_VERDICT = /^judged by rule: of (\d+) words sought, the talk has (\d+) \((.*)\)$/s;

export const HTML_TEXTS: Readonly<Record<ReportLocale, HtmlTexts>> = {
  en: {
    statuses: {
      queued: 'queued',
      running: 'running',
      passed: 'passed',
      failed: 'failed',
      flaky: 'flaky',
      error: 'error',
      canceled: 'canceled',
    },
    columns: ['Case', 'Result', 'Passed', '95 % interval', 'p50', 'p95'],
    summary: ({ summary: { passed, failed, flaky, errors }, repeat, version, seed }) =>
      `${passed} passed, ${failed} failed, ${flaky} flaky, ${errors} errors; ${repeat} × against the ${version} version, seed ${seed}, `,
    startedAt: (at) => `${at ?? 'not started'}.`,
    compared: ({ newlyFailing, newlyPassing, slower }) =>
      ` Against the baseline: ${newlyFailing.length} newly failing, ${newlyPassing.length} newly passing, ${slower.length} slower.`,
    part: (part, whole) => `${part} of ${whole}`,
    interval: (low, high) => `${low} to ${high}`,
    unsuccessful: 'What did not pass',
    more: (plays) => `${plays} more did not pass.`,
    recorded: 'Calls that passed',
    seed: (seed) => `seed ${seed}`,
    before: 'Before',
    now: 'Now',
    turn: (turn) => `turn ${turn + 1}`,
    seconds: (seconds) => `${seconds} s`,
    colon: ': ',
    seen: 'seen',
    gone: 'The recording is gone.',
    tooLong: (link) => `The recordings are too long for one page: ${link('this link')} is valid for an hour.`,
    unreadable: 'The recording could not be read.',
    latency: 'Latency of the answers',
    latencyOf: (answers, highestMs) => `Latency of ${answers} answers, 0 to ${highestMs} ms`,
    said: (text) => text,
  },
  'zh-TW': {
    statuses: {
      queued: '排隊中',
      running: '執行中',
      passed: '通過',
      failed: '失敗',
      flaky: '不穩定',
      error: '錯誤',
      canceled: '已取消',
    },
    columns: ['案例', '結果', '通過', '95% 信賴區間', 'p50', 'p95'],
    summary: ({ summary: { passed, failed, flaky, errors }, repeat, version, seed }) =>
      `${passed} 個通過、${failed} 個失敗、${flaky} 個不穩定、${errors} 個無法執行；${version === 'draft' ? '草稿' : '線上版'}，重複 ${repeat} 次，種子 ${seed}，`,
    startedAt: (at) => (at === null ? '尚未開始。' : `開始於 ${at}。`),
    compared: ({ newlyFailing, newlyPassing, slower }) =>
      `與基準比較：${newlyFailing.length} 個新的失敗、${newlyPassing.length} 個新的通過、${slower.length} 個變慢。`,
    part: (part, whole) => `${part} / ${whole}`,
    interval: (low, high) => `${low} 至 ${high}`,
    unsuccessful: '未通過的執行',
    more: (plays) => `另有 ${plays} 次執行未通過。`,
    recorded: '通過的通話',
    seed: (seed) => `種子 ${seed}`,
    before: '先前',
    now: '現在',
    turn: (turn) => `第 ${turn + 1} 步`,
    seconds: (seconds) => `${seconds} 秒`,
    colon: '：',
    seen: '實際',
    gone: '錄音已不存在。',
    tooLong: (link) => `錄音太長，無法全部放在此頁：${link('此連結')}一小時內有效。`,
    unreadable: '無法讀取錄音。',
    latency: '回應時間',
    latencyOf: (answers, highestMs) => `${answers} 次回應的時間，0 至 ${highestMs} 毫秒`,
    said: (text) =>
      text.replace(RULE_VERDICT, (_, sought, found, words) =>
        found === '0'
          ? `依規則判定：尋找的 ${sought} 個字詞，對話都沒有`
          : `依規則判定：尋找的 ${sought} 個字詞中，對話有 ${found} 個（${words}）`,
      ),
  },
};
