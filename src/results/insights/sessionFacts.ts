import { createHash } from 'node:crypto';
import type { LatencyDetails, LatencyParts } from '../../engine/session/session.ts';
import { type Histogram, histogramOf, LATENCY_BUCKETS, STAY_BUCKETS } from './histogram.ts';

/** What sessions are grouped by. Outcomes are those that are known at the end. */
const OUTCOMES = ['disposition', 'success', 'endReason'] as const;
export const DIMENSIONS = [
  'release',
  'channel',
  'direction',
  'trunkId',
  'campaignId',
  'agentId',
  'language',
  ...OUTCOMES,
  'node',
  'provider',
  'currency',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];
export type Dimensions = Readonly<Record<Dimension, string | null>>;

/** The columns of `insight_sessions` that are added up. */
export const SUMS = [
  'sessions',
  'calls',
  'answered',
  'callMs',
  'timed',
  'durationMs',
  'turns',
  'evaluated',
  'passed',
  'analyzed',
  'succeeded',
  'toolCalls',
  'toolFailures',
  'interruptions',
  'transferred',
  'withError',
  'priced',
  'costBillionths',
] as const;
export type Sum = (typeof SUMS)[number];

/** The parts of a turn's latency. */
export const LATENCY_PARTS = [
  'total',
  'buffer',
  'endpointing',
  'transcription',
  'answer',
  'speech',
  'playout',
  'model',
  'tool',
  'sentence',
] as const;
export type LatencyPart = (typeof LATENCY_PARTS)[number];

/** An ended session as its rows have it. */
export interface SessionFacts {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly dimensions: Omit<Dimensions, 'node'>;
  /** The rollout that it is in an arm of. */
  readonly rolloutId: string | null;
  /** Rates had it when the rollout began, or else the first ones since; null without rates. */
  readonly rolloutCurrency: string | null;
  /** The session's call; null without one. Times in milliseconds; null before the answer and the end. */
  readonly call: { readonly answeredAtMs: number | null; readonly endedAtMs: number | null } | null;
  readonly turns: number;
  /** The criteria that the evaluation says to be met or not. */
  readonly criteria: readonly { readonly name: string; readonly passed: boolean }[];
  /** What a person says of criteria, by name. */
  readonly reviewed: Readonly<Record<string, 'good' | 'bad'>> | null;
  readonly toolCalls: number;
  readonly toolFailures: number;
  readonly interruptions: number;
  readonly transferred: boolean;
  readonly withError: boolean;
  /** The total of its cost; null for a session without rates. */
  readonly cost: number | null;
  readonly latencies: readonly {
    readonly ms: number;
    readonly parts: Partial<LatencyParts> | null;
    readonly details: LatencyDetails | null;
  }[];
  /** The nodes that were entered, in order. */
  readonly entries: readonly {
    readonly nodeId: string;
    readonly title: string | null;
    readonly edgeId: string | null;
    readonly atMs: number;
  }[];
}

/** Whether a criterion is met, as the judge and as a person say. */
interface Judgement {
  readonly criterion: string;
  readonly judge: boolean;
  readonly person: boolean;
}

interface CountedNode {
  readonly entered: number;
  readonly ended: number;
  readonly stays: Histogram;
}

/** What is counted of a session. */
export interface Counted {
  readonly at: string;
  readonly rolloutId: string | null;
  /** A session whose cost has another currency counts in its arm without it. */
  readonly rolloutCurrency: string | null;
  readonly dimensions: Dimensions;
  readonly sums: Readonly<Record<Sum, number>>;
  readonly latencies: Readonly<Partial<Record<LatencyPart, Histogram>>>;
  /** The criteria that both the judge and a person gave a verdict on. */
  readonly judgements: readonly Judgement[];
  readonly nodes: Readonly<Record<string, CountedNode>>;
  /** How often each edge was taken: from a node, by the edge, to a node. */
  readonly edges: readonly (readonly [from: string, edgeId: string, to: string, taken: number])[];
}

/** Ids and labels come from users, and an index takes no long ones. */
const MAX_KEY_CHARACTERS = 200;
export const keyOf = (text: string): string => text.slice(0, MAX_KEY_CHARACTERS).toWellFormed();

/** Sums are of whole numbers, so that what is subtracted again is what was added. */
export const BILLIONTHS = 1_000_000_000;

/** Counts a session. */
export function countedOf(facts: SessionFacts): Counted {
  const { call, criteria, entries } = facts;
  const last = entries.at(-1);
  const talkMs =
    call?.answeredAtMs == null || call.endedAtMs === null
      ? undefined
      : Math.max(0, call.endedAtMs - call.answeredAtMs);
  const durationMs = call ? talkMs : Date.parse(facts.endedAt) - Date.parse(facts.startedAt);
  const dimensions = { ...facts.dimensions, node: last?.nodeId ?? null };
  return {
    at: facts.startedAt,
    rolloutId: facts.rolloutId,
    rolloutCurrency: facts.rolloutCurrency,
    dimensions: Object.fromEntries(
      DIMENSIONS.map((name) => [name, dimensions[name] === null ? null : keyOf(dimensions[name])]),
    ) as Record<Dimension, string | null>,
    sums: {
      sessions: 1,
      calls: call ? 1 : 0,
      answered: call && call.answeredAtMs !== null ? 1 : 0,
      callMs: talkMs ?? 0,
      timed: durationMs === undefined ? 0 : 1,
      durationMs: durationMs ?? 0,
      turns: facts.turns,
      evaluated: criteria.length > 0 ? 1 : 0,
      passed: criteria.length > 0 && criteria.every(({ passed }) => passed) ? 1 : 0,
      analyzed: dimensions.success === null ? 0 : 1,
      succeeded: dimensions.success === 'true' ? 1 : 0,
      toolCalls: facts.toolCalls,
      toolFailures: facts.toolFailures,
      interruptions: facts.interruptions,
      transferred: facts.transferred ? 1 : 0,
      withError: facts.withError ? 1 : 0,
      priced: facts.cost === null ? 0 : 1,
      costBillionths: Math.round((facts.cost ?? 0) * BILLIONTHS),
    },
    latencies: latenciesOf(facts.latencies),
    judgements: judgementsOf(facts),
    ...wayOf(facts),
  };
}

function judgementsOf({ criteria, reviewed }: SessionFacts): Judgement[] {
  return criteria.flatMap(({ name, passed }) => {
    const verdict = reviewed && Object.hasOwn(reviewed, name) ? reviewed[name] : undefined;
    return verdict ? [{ criterion: keyOf(name), judge: passed, person: verdict === 'good' }] : [];
  });
}

function latenciesOf(latencies: SessionFacts['latencies']): Counted['latencies'] {
  const values = latencies.map(
    ({ ms, parts, details }): Partial<Record<LatencyPart, number | undefined>> => ({
      total: ms,
      buffer: parts?.bufferMs,
      endpointing: parts?.endpointingMs,
      transcription: parts?.transcriptionMs,
      answer: parts?.answerMs,
      speech: parts?.speechMs,
      playout: parts?.playoutMs,
      model: details?.modelMs,
      tool: details?.toolMs,
      sentence: details?.sentenceMs,
    }),
  );
  const byPart = LATENCY_PARTS.flatMap((part) => {
    const known = values.flatMap((one) => one[part] ?? []);
    return known.length === 0 ? [] : [[part, histogramOf(known, LATENCY_BUCKETS)] as const];
  });
  return Object.fromEntries(byPart);
}

/** Returns the way through the pathway: a node is left at the next entry, the last one at the session's end. */
function wayOf({ entries, endedAt }: SessionFacts): Pick<Counted, 'nodes' | 'edges'> {
  const stays = new Map<string, number[]>();
  const taken = new Map<string, number>();
  const endedAtMs = Date.parse(endedAt);
  entries.forEach(({ nodeId, atMs }, index) => {
    const next = entries[index + 1];
    const id = keyOf(nodeId);
    const ofNode = stays.get(id) ?? [];
    stays.set(id, ofNode);
    ofNode.push(Math.max(0, (next?.atMs ?? endedAtMs) - atMs));
    if (next?.edgeId == null) return;
    const edge = JSON.stringify([id, keyOf(next.edgeId), keyOf(next.nodeId)]);
    taken.set(edge, (taken.get(edge) ?? 0) + 1);
  });
  const last = entries.at(-1);
  const nodes = [...stays].map(([id, ms]): [string, CountedNode] => [
    id,
    {
      entered: ms.length,
      ended: last && keyOf(last.nodeId) === id ? 1 : 0,
      stays: histogramOf(ms, STAY_BUCKETS),
    },
  ]);
  return {
    nodes: Object.fromEntries(nodes),
    edges: [...taken].map(([edge, times]) => [...(JSON.parse(edge) as [string, string, string]), times]),
  };
}

/** Returns the id of a combination, which is the same on every node. */
export function dimensionsId(dimensions: Dimensions): string {
  const text = JSON.stringify(DIMENSIONS.map((name) => dimensions[name]));
  return createHash('md5').update(text).digest('hex');
}

/** Removes the outcomes, by which the parts of a latency would have as many rows as there are sessions. */
export function withoutOutcome(dimensions: Dimensions): Dimensions {
  return { ...dimensions, disposition: null, success: null, endReason: null, node: null, currency: null };
}

/** Returns the dimensions by which the way through the pathway is counted. */
export function ofWay(dimensions: Dimensions): Dimensions {
  return { ...dimensions, node: null, provider: null, currency: null };
}

/** Tells whether a latency by this dimension is known only as a whole. */
export function isOutcome(dimension: Dimension): boolean {
  return dimension === 'node' || (OUTCOMES as readonly string[]).includes(dimension);
}
