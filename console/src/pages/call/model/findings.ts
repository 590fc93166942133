import { type Axis, type Timeline, textOf } from './callTimeline.ts';
import { slowestPart, type Turn } from './turns.ts';

/** Slower than people wait for each other on the phone. */
const SLOW_MS = 1500;
const VERY_SLOW_MS = 3000;
/** Below it, many listeners are dissatisfied. @see ITU-T G.107 annex B */
const POOR_MOS = 3.6;
const POOR_LOSS = 0.03;
const MAX_SLOW = 3;

/** What went wrong, where to look and listen. */
export interface Finding {
  readonly kind:
    | 'slow_answer'
    | 'error'
    | 'tool_failed'
    | 'fallback'
    | 'webhook_failed'
    | 'poor_audio'
    | 'call_failed'
    | 'violation'
    | 'transfer_failed'
    | 'interruptions';
  readonly isSevere: boolean;
  /** On the axis. */
  readonly atMs: number;
  /** Values of its text. */
  readonly values: Readonly<Record<string, string | number>>;
}

/** The worst first. */
export function findingsOf(timeline: Timeline, axis: Axis, turns: readonly Turn[]): Finding[] {
  const findings = [
    ...failedCall(timeline, axis),
    ...violations(timeline, axis),
    ...slowAnswers(turns),
    ...failures(timeline, axis),
    ...poorAudio(timeline, axis),
    ...failedWebhooks(timeline, axis),
    ...interruptions(timeline, axis),
  ];
  return findings.sort(
    (one, other) => Number(other.isSevere) - Number(one.isSevere) || one.atMs - other.atMs,
  );
}

function failedCall({ call }: Timeline, axis: Axis): Finding[] {
  if (!call || !['failed', 'busy', 'no_answer'].includes(call.status)) return [];
  const { status, endReason, sip, endedAt } = call;
  const values = { status, reason: endReason ?? '', sip: sip ? `${sip.code} ${sip.reason}` : '' };
  return [{ kind: 'call_failed', isSevere: true, atMs: axis.at(endedAt ?? call.createdAt), values }];
}

function violations({ call }: Timeline, axis: Axis): Finding[] {
  return (call?.violations ?? []).map(({ id }) => ({
    kind: 'violation',
    isSevere: true,
    atMs: axis.at(call?.answeredAt ?? call?.createdAt ?? ''),
    values: { id },
  }));
}

function slowAnswers(turns: readonly Turn[]): Finding[] {
  return turns
    .filter(({ latencyMs }) => latencyMs > SLOW_MS)
    .sort((one, other) => other.latencyMs - one.latencyMs)
    .slice(0, MAX_SLOW)
    .map((turn) => {
      const part = slowestPart(turn);
      const partMs = turn.parts.find((one) => one.part === part)?.ms ?? turn.latencyMs;
      return {
        kind: 'slow_answer',
        isSevere: turn.latencyMs > VERY_SLOW_MS,
        atMs: turn.fromMs,
        values: { latencyMs: turn.latencyMs, part, partMs },
      };
    });
}

function failures({ events }: Timeline, axis: Axis): Finding[] {
  return events.flatMap(({ type, at, data }): Finding[] => {
    const place = { atMs: axis.at(at) };
    if (type === 'error') {
      const code = textOf(data, 'code') ?? '';
      const values = { code, message: textOf(data, 'message') ?? code };
      return [{ kind: 'error', isSevere: true, ...place, values }];
    }
    if (type === 'tool_result' && data.ok === false) {
      const values = { name: textOf(data, 'name') ?? '', result: textOf(data, 'result') ?? '' };
      return [{ kind: 'tool_failed', isSevere: true, ...place, values }];
    }
    if (type === 'provider_fallback') {
      const [from, to] = [textOf(data, 'from') ?? '', textOf(data, 'to') ?? ''];
      return [{ kind: 'fallback', isSevere: false, ...place, values: { from, to } }];
    }
    if (type === 'transfer' && ['failed', 'refused'].includes(String(data.status))) {
      const [to = '', outcome = '', reason = ''] = ['to', 'outcome', 'reason'].map((name) =>
        textOf(data, name),
      );
      const values = { to, outcome, reason };
      return [{ kind: 'transfer_failed', isSevere: true, ...place, values }];
    }
    return [];
  });
}

/** Neighbouring intervals of poor audio are one finding. */
function poorAudio({ mediaSamples }: Timeline, axis: Axis): Finding[] {
  const { intervalMs, samples } = mediaSamples ?? { intervalMs: 0, samples: [] };
  let worst:
    | { readonly atMs: number; readonly mos: number; readonly loss: number; readonly count: number }
    | undefined;
  for (const { at, packetsReceived, packetsLost, mos } of samples) {
    const loss = packetsLost / Math.max(1, packetsReceived + packetsLost);
    if (mos === null || (mos >= POOR_MOS && loss < POOR_LOSS)) continue;
    const count = (worst?.count ?? 0) + 1;
    const atMs = Math.max(0, axis.at(at) - intervalMs);
    worst = !worst || mos < worst.mos ? { atMs, mos, loss, count } : { ...worst, count };
  }
  if (!worst) return [];
  const { atMs, mos, loss, count } = worst;
  const values = { mos, lossPercent: loss * 100, seconds: (count * intervalMs) / 1000 };
  return [{ kind: 'poor_audio', isSevere: mos < 3, atMs, values }];
}

/** Of each delivery its last attempt. */
function failedWebhooks({ deliveries }: Timeline, axis: Axis): Finding[] {
  return [...new Map(deliveries.map((attempt) => [attempt.deliveryId, attempt])).values()]
    .filter(({ ok }) => !ok)
    .map(({ event, at, status, error }) => ({
      kind: 'webhook_failed',
      isSevere: false,
      atMs: axis.at(at),
      values: { event, status: status ?? error?.code ?? '' },
    }));
}

function interruptions({ events }: Timeline, axis: Axis): Finding[] {
  const found = events.filter(({ type }) => type === 'barge_in');
  const [first] = found;
  if (!first || found.length < 3) return [];
  return [
    { kind: 'interruptions', isSevere: false, atMs: axis.at(first.at), values: { count: found.length } },
  ];
}
