import type { components } from '../../../api/schema.d.ts';

export type Timeline = components['schemas']['CallTimeline'];
export type Call = components['schemas']['Call'];
export type Message = Timeline['messages'][number];
export type HistoryEvent = Timeline['events'][number];
export type Delivery = Timeline['deliveries'][number];

/** The stretch of time that the page shows. Places on it are in milliseconds from its beginning. */
export interface Axis {
  readonly fromMs: number;
  readonly lengthMs: number;
  /** @param at - ISO 8601. */
  at(at: string): number;
}

/** From the first INVITE, or the session's begin, to the end. @param nowMs - The end of what goes on. */
export function axisOf({ call, startedAt, endedAt, messages, events }: Timeline, nowMs: number): Axis {
  const fromMs = Date.parse(call?.startedAt ?? startedAt);
  const last = [messages.at(-1)?.at, events.at(-1)?.at].map((at) => (at ? Date.parse(at) : fromMs));
  const end = call ? call.endedAt : endedAt;
  const toMs = end ? Date.parse(end) : Math.max(nowMs, ...last);
  return {
    fromMs,
    lengthMs: Math.max(1000, toMs - fromMs),
    at: (at) => Math.max(0, Date.parse(at) - fromMs),
  };
}

/** Where the recording lies on the axis. Undefined before it is ready. */
export function recordingSpan(
  { call }: Timeline,
  axis: Axis,
): { readonly fromMs: number; readonly lengthMs: number } | undefined {
  const { recording, answeredAt } = call ?? {};
  const startedAt = recording?.startedAt ?? answeredAt;
  if (recording?.status !== 'ready' || !recording.durationMs || !startedAt) return undefined;
  return { fromMs: axis.at(startedAt), lengthMs: recording.durationMs };
}

export const isLive = ({ call }: Timeline): boolean => call !== undefined && call.endedAt === null;

/** A field of an event's data, whose shape depends on its type. */
export function textOf(data: HistoryEvent['data'], field: string): string | undefined {
  const value = data[field];
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function numberOf(data: HistoryEvent['data'], field: string): number | undefined {
  const value = data[field];
  return typeof value === 'number' ? value : undefined;
}
