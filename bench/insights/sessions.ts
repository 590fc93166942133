import { DAY_MS } from '../../src/base/values/clock.ts';
import { type Counted, countedOf, type SessionFacts } from '../../src/results/insights/sessionFacts.ts';

const PHONE_SHARE = 0.7;
const RING_MS = 15_000;
const NODES = ['greeting', 'identify', 'need', 'offer', 'book', 'question', 'transfer', 'goodbye'];
/** Dispositions with their share, whether they are a success, and the nodes at which their sessions end. */
const DISPOSITIONS: readonly (readonly [string, number, boolean, readonly string[]])[] = [
  ['booked', 0.4, true, ['goodbye']],
  ['answered', 0.25, true, ['question', 'goodbye']],
  ['not interested', 0.15, false, ['offer', 'need']],
  ['call back', 0.1, false, ['offer']],
  ['wrong person', 0.06, false, ['identify']],
  ['transferred', 0.04, true, ['transfer']],
];
const LANGUAGES: readonly (readonly [string, number])[] = [
  ['en-US', 0.7],
  ['es-US', 0.25],
  ['zh-TW', 0.05],
];

/** A sequence of numbers from 0 to 1 that is the same in every run. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The sessions of one day of a service with three channels, four campaigns, three trunks and a canary. */
export function sessionsOfDay(day: number, beganMs: number, count: number, random: () => number): Counted[] {
  return Array.from({ length: count }, (_, index) => {
    const startedMs = beganMs + Math.floor(((index + random()) / count) * DAY_MS);
    return countedOf(factsOf(day, startedMs, random));
  });
}

function factsOf(day: number, startedMs: number, random: () => number): SessionFacts {
  const isPhone = random() < PHONE_SHARE;
  const isOutbound = isPhone && random() < 0.6;
  const dimensions = {
    release: String(1 + Math.floor(day / 10) + (random() < 0.1 ? 1 : 0)),
    channel: isPhone ? 'phone' : random() < 0.85 ? 'chat' : 'web',
    direction: isPhone ? (isOutbound ? 'outbound' : 'inbound') : null,
    trunkId: isPhone ? `trunk ${Math.floor(random() * 3)}` : null,
    campaignId: isOutbound ? `campaign ${Math.floor(day / 8)}` : null,
    agentId: null,
    language: pick(LANGUAGES, random)[0],
    provider: isPhone ? null : `site ${Math.floor(random() * 2)}`,
    currency: 'USD',
  };
  return isOutbound && random() < 0.35
    ? { ...UNANSWERED, ...callFrom(startedMs, undefined), dimensions: { ...dimensions, ...NO_OUTCOME } }
    : conversation({ isPhone, startedMs, dimensions }, random);
}

const NO_OUTCOME = { disposition: null, success: null, endReason: 'no_answer', currency: null };
const UNANSWERED = {
  rolloutId: null,
  rolloutCurrency: null,
  turns: 0,
  criteria: [],
  reviewed: null,
  toolCalls: 0,
  toolFailures: 0,
  interruptions: 0,
  transferred: false,
  withError: false,
  cost: null,
  latencies: [],
  entries: [],
};

interface Talk {
  readonly isPhone: boolean;
  readonly startedMs: number;
  readonly dimensions: Omit<SessionFacts['dimensions'], 'disposition' | 'success' | 'endReason'>;
}

function conversation({ isPhone, startedMs, dimensions }: Talk, random: () => number): SessionFacts {
  const [disposition, , success, ends] = pick(DISPOSITIONS, random);
  const durationMs = 20_000 + Math.floor(-Math.log(1 - random()) * 90_000);
  const turns = 2 + Math.floor(random() * 9);
  const usesTools = turns > 4;
  return {
    ...callFrom(startedMs, durationMs, isPhone),
    rolloutId: null,
    rolloutCurrency: null,
    dimensions: {
      ...dimensions,
      disposition,
      success: String(success),
      endReason: endReasonOf(isPhone, disposition, random),
    },
    turns,
    criteria: [
      { name: 'answered', passed: random() < 0.9 },
      { name: 'polite', passed: random() < 0.95 },
    ],
    reviewed: null,
    toolCalls: usesTools ? 2 : 0,
    toolFailures: usesTools && random() < 0.05 ? 1 : 0,
    interruptions: isPhone ? Math.floor(random() * 2) : 0,
    transferred: disposition === 'transferred',
    withError: random() < 0.02,
    cost: Math.round(turns * random() * 1_000) / 100_000,
    latencies: Array.from({ length: turns }, () => latencyOf(isPhone, random)),
    entries: wayTo(ends[Math.floor(random() * ends.length)] ?? 'goodbye', startedMs, durationMs, random),
  };
}

/** @param talkMs - Undefined for a call that is not answered. */
function callFrom(startedMs: number, talkMs: number | undefined, isCall = true) {
  const endedAtMs = startedMs + RING_MS + (talkMs ?? 0);
  const answeredAtMs = talkMs === undefined ? null : startedMs + RING_MS;
  return {
    startedAt: new Date(startedMs).toISOString(),
    endedAt: new Date(endedAtMs).toISOString(),
    call: isCall ? { answeredAtMs, endedAtMs } : null,
  };
}

function endReasonOf(isPhone: boolean, disposition: string, random: () => number): string {
  if (!isPhone) return random() < 0.6 ? 'idle' : 'end_node';
  if (disposition === 'transferred') return 'transferred';
  return random() < 0.6 ? 'caller_hangup' : 'agent_hangup';
}

function latencyOf(isPhone: boolean, random: () => number): SessionFacts['latencies'][number] {
  const answerMs = 250 * Math.exp(1.2 * random());
  if (!isPhone) return { ms: answerMs, parts: null, details: null };
  const parts = {
    bufferMs: 40,
    endpointingMs: 200 + 600 * random(),
    transcriptionMs: 60,
    answerMs,
    speechMs: 120 + 100 * random(),
    playoutMs: 20,
  };
  const ms = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return { ms, parts, details: { modelMs: answerMs - 20 } };
}

function wayTo(end: string, startedMs: number, durationMs: number, random: () => number) {
  const before = NODES.slice(0, Math.max(0, NODES.indexOf(end)));
  const way = [...before.filter((_, index) => index < 3 || random() < 0.4), end];
  return way.map((nodeId, index) => ({
    nodeId,
    title: nodeId,
    edgeId: index === 0 ? null : `${way[index - 1]} to ${nodeId}`,
    atMs: startedMs + Math.floor((index / way.length) * durationMs),
  }));
}

function pick<Choice extends readonly [unknown, number, ...unknown[]]>(
  choices: readonly Choice[],
  random: () => number,
): Choice {
  let left = random();
  const found = choices.find(([, share]) => {
    left -= share;
    return left < 0;
  });
  const chosen = found ?? choices.at(-1);
  if (!chosen) throw new RangeError('there is nothing to choose from');
  return chosen;
}
