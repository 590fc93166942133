import { queryOptions } from '@tanstack/react-query';

import { type Api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { formatCost, formatLatency, formatNumber, formatPercent, formatTook } from '../../formats.ts';
import { textsIn } from '../../texts.ts';
import type { InsightQuery, Metric } from './insightSearch.ts';

export type Insights = components['schemas']['Insights'];
export type Series = Insights['series'][number];
export type Funnel = components['schemas']['Funnel'];

/** The sums are at most a minute old. */
const REFRESH_MS = 60_000;

export const metricTexts = textsIn<Readonly<Record<Metric, string>>>({
  en: {
    sessions: 'Conversations',
    calls: 'Calls',
    answered: 'Answered calls',
    minutes: 'Minutes of calls',
    turns: 'Turns',
    duration: 'Mean length',
    success: 'Success',
    dispositions: 'Dispositions',
    evaluation: 'Passed every criterion',
    endReasons: 'How they ended',
    latency: 'Latency by part (p95)',
    latencyP95: 'Latency p95',
    cost: 'Cost',
    error: 'With an error',
    toolFailures: 'Failed tool calls',
    interruptions: 'Interruptions a conversation',
    transfers: 'Transferred',
    judgeAgreement: 'Judge agrees with people',
  },
  'zh-TW': {
    sessions: '對話數',
    calls: '通話數',
    answered: '接通率',
    minutes: '通話分鐘數',
    turns: '輪次數',
    duration: '平均長度',
    success: '成功率',
    dispositions: '結果分類',
    evaluation: '通過所有準則的比率',
    endReasons: '結束原因',
    latency: '各部分延遲（p95）',
    latencyP95: 'p95 延遲',
    cost: '費用',
    error: '發生錯誤的比率',
    toolFailures: '工具呼叫失敗率',
    interruptions: '每段對話的插話次數',
    transfers: '轉接率',
    judgeAgreement: '評審與人一致的比率',
  },
});

/** What a metric counts, for those who do not know it. */
export const metricHelp = textsIn<Readonly<Partial<Record<Metric, string>>>>({
  en: {
    sessions: 'Ended conversations, on the phone and in writing.',
    calls: 'Ended calls, answered or not.',
    answered: 'The share of calls that were answered.',
    duration: 'Of answered calls from answer to end, of other conversations from start to end.',
    success: 'Of analyzed conversations whose disposition says whether it is a success, the share that is.',
    dispositions: 'Conversations by the disposition that the analysis chose.',
    evaluation: 'Of evaluated conversations, the share that passed every criterion.',
    latencyP95: '95 of 100 answers began within this time after the person’s turn.',
    latency: 'Where the time goes between a person’s turn and the answer: 95 of 100 were faster.',
    cost: 'By the rates that were set when the conversation ended.',
    error: 'The share of conversations in which something failed.',
    toolFailures: 'The share of tool calls that failed.',
    interruptions: 'How often a person interrupted the agent.',
    transfers: 'The share of conversations that were joined with another party.',
    judgeAgreement:
      'Of reviewed criteria, the share on which a person said the same as the judge. Cohen’s κ leaves out what chance makes equal: 1 is full agreement, 0 that of chance.',
  },
  'zh-TW': {
    sessions: '已結束的對話，包括電話與文字。',
    calls: '已結束的通話，不論是否接聽。',
    answered: '接聽的通話所佔比率。',
    duration: '接聽的通話從接聽到結束；其他對話從開始到結束。',
    success: '分析後的結果分類能判斷成敗的對話中，成功者所佔比率。',
    dispositions: '依分析選擇的結果分類計算的對話數。',
    evaluation: '評估過的對話中，通過所有準則者所佔比率。',
    latencyP95: '對方說完後，100 次回答中有 95 次在此時間內開始。',
    latency: '對方說完到回答之間的時間用在哪裡：100 次中有 95 次更快。',
    cost: '依對話結束時設定的費率計算。',
    error: '發生失敗的對話所佔比率。',
    toolFailures: '失敗的工具呼叫所佔比率。',
    interruptions: '對方打斷代理的次數。',
    transfers: '轉接給另一方的對話所佔比率。',
    judgeAgreement:
      '審查過的準則中，人與評審模型判斷相同的比率。Cohen κ 扣除偶然的一致：1 為完全一致，0 與隨機無異。',
  },
});

const SHARES: readonly Metric[] = [
  'answered',
  'success',
  'evaluation',
  'error',
  'toolFailures',
  'transfers',
  'judgeAgreement',
];
const COUNTS: readonly Metric[] = [
  'sessions',
  'calls',
  'minutes',
  'turns',
  'cost',
  'dispositions',
  'endReasons',
];

/** Whether its values are 0 to 1. */
export const isShare = (metric: Metric): boolean => SHARES.includes(metric);

/** Whether the metric adds up, so that it is 0 where there is nothing. */
export const isCount = (metric: Metric): boolean => COUNTS.includes(metric);

/** A value of the metric in its unit. @param currency - Of a cost. */
export function formatMetric(metric: Metric, value: number, currency: string | undefined): string {
  if (isShare(metric)) return formatPercent(value);
  if (metric === 'duration') return formatTook(value);
  if (metric === 'latency' || metric === 'latencyP95') return formatLatency(value);
  if (metric === 'cost' && currency !== undefined) return formatCost({ total: value, currency });
  return formatNumber(value);
}

/** Of a latency that has percentiles, the slow one. */
export const valueIn = ({ value, p95 }: Omit<Insights['total'], 'others'>): number | null =>
  value ?? p95 ?? null;

/** Of how many a total is, in all of its currencies. */
export const countOf = ({ n, others = [] }: Insights['total']): number =>
  others.reduce((sum, other) => sum + other.n, n);

/** A total, in each of its currencies; null where nothing was measured. */
export function totalText(metric: Metric, total: Insights['total']): string | null {
  const texts = [total, ...(total.others ?? [])].flatMap((figure) => {
    const value = valueIn(figure);
    return value === null ? [] : formatMetric(metric, value, figure.currency);
  });
  return texts.length === 0 ? null : texts.join(' + ');
}

/** Cohen's kappa beside a share, where the metric has one. */
export function kappaText({ kappa }: { readonly kappa?: number | null | undefined }): string | undefined {
  return kappa == null ? undefined : `κ ${kappa.toFixed(2)}`;
}

export const insightsQuery = (api: Api, projectId: string, query: InsightQuery) =>
  queryOptions({
    queryKey: ['insights', projectId, query],
    queryFn: () =>
      bodyOf(api.GET('/v1/projects/{projectId}/insights', { params: { path: { projectId }, query } })),
    refetchInterval: REFRESH_MS,
  });
