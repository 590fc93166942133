import type { ProjectStore } from '../../agents/accounts/accountStores.ts';
import { type CallLimits, NO_CALL_LIMITS } from '../../agents/accounts/callLimits.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Call } from '../call.ts';
import type { CallMetrics, RefusalReason } from '../callMetrics.ts';
import { callCostMillionths, MILLIONTHS_PER_UNIT } from './callCost.ts';
import { isDestinationAllowed } from './destinations.ts';
import type { DailyUsage, ProjectUsage } from './projectUsage.ts';

const MS_PER_MINUTE = 60_000;

const NOTHING: DailyUsage = { talkTimeMs: 0, spentMillionths: 0 };

/** A leg that was placed for a project, and that it pays for. */
export interface BilledLeg {
  /** A number, or a SIP URI. */
  readonly to: string;
  readonly talkTimeMs: number;
}

type Begun = Pick<Call, 'id' | 'projectId' | 'direction' | 'toNumber'>;

/** Holds a project's calls within what its operator allows it, over all nodes. */
export interface CallLimiter {
  /**
   * Lets an outbound call be accepted, and counts it.
   *
   * @throws {CallwayError} 403 `destination_not_allowed`; 429 `call_rate_exceeded`, `call_minutes_exhausted`,
   *   `call_spending_exhausted`.
   */
  admitOrder(projectId: string, toNumber: string): Promise<void>;
  /** @param to - A number in normal form, or a SIP URI. @throws {CallwayError} 403 `destination_not_allowed` */
  requireAllowedDestination(projectId: string, to: string): Promise<void>;
  /** Whether anything is left of the day's minutes and money, for another leg of a call that is on. */
  hasBudget(projectId: string): Promise<boolean>;
  /**
   * Lets a call begin, and takes its place among the simultaneous ones.
   *
   * @returns `full` where there is no place now; `refused` where the call may not begin any more, since the limits were
   *   changed or the day's minutes or money used up after it had been accepted.
   */
  startCall(call: Begun): Promise<'begun' | 'full' | 'refused'>;
  /**
   * Keeps a call's place, and counts what it has talked.
   *
   * @param legs - What was talked on each since the last time; none where only the caller pays.
   * @returns False where the day's minutes or money are used up: the call is to be hung up.
   */
  recordUsage(call: Pick<Begun, 'id' | 'projectId'>, legs: readonly BilledLeg[]): Promise<boolean>;
  /** Frees a call's place. Harmless for a call that has none. */
  endCall(call: Pick<Call, 'id' | 'projectId'>): Promise<void>;
}

export interface CallLimiterDeps {
  readonly projects: Pick<ProjectStore, 'find'>;
  readonly counts: ProjectUsage;
  readonly meter: Pick<CallMetrics, 'callRefused'>;
  /** A project was not let do what it wanted. */
  readonly onRefused: (projectId: string, reason: RefusalReason) => void;
}

export function createCallLimiter({ projects, counts, meter, onRefused }: CallLimiterDeps): CallLimiter {
  const note = (projectId: string, reason: RefusalReason) => {
    meter.callRefused(reason);
    onRefused(projectId, reason);
  };
  const limitsOf = async (projectId: string): Promise<CallLimits> =>
    (await projects.find(projectId))?.callLimits ?? NO_CALL_LIMITS;
  const requireAllowed = (projectId: string, limits: CallLimits, to: string) => {
    if (isDestinationAllowed(limits, to)) return;
    note(projectId, 'destination');
    throw new CallwayError('forbidden', 'destination_not_allowed', `This project may not call ${to}`);
  };
  const usedUpToday = async (projectId: string, limits: CallLimits) =>
    limits.maxCallMinutesPerDay === null && limits.maxSpendingPerDay === null
      ? undefined
      : usedUp(limits, await counts.addUsage(projectId, NOTHING));

  return {
    async admitOrder(projectId, toNumber) {
      const limits = await limitsOf(projectId);
      requireAllowed(projectId, limits, toNumber);
      const most = {
        perMinute: limits.maxCallsPerMinute,
        perHour: limits.maxCallsPerHour,
        talkedMsPerDay: times(limits.maxCallMinutesPerDay, MS_PER_MINUTE),
        spentMillionthsPerDay: times(limits.maxSpendingPerDay, MILLIONTHS_PER_UNIT),
      };
      if (Object.values(most).every((limit) => limit === null)) return;
      const over = await counts.countCall(projectId, most);
      if (!over) return;
      note(projectId, over.what);
      throw overLimit(over.what, over.retryAfterSeconds);
    },
    async requireAllowedDestination(projectId, to) {
      requireAllowed(projectId, await limitsOf(projectId), to);
    },
    async hasBudget(projectId) {
      const what = await usedUpToday(projectId, await limitsOf(projectId));
      if (what) note(projectId, what);
      return what === undefined;
    },
    async startCall({ id, projectId, direction, toNumber }) {
      const limits = await limitsOf(projectId);
      if (direction === 'outbound') {
        const isAllowed = isDestinationAllowed(limits, toNumber);
        const what = isAllowed ? await usedUpToday(projectId, limits) : 'destination';
        if (what) {
          note(projectId, what);
          return 'refused';
        }
      }
      const { maxConcurrentCalls } = limits;
      if (maxConcurrentCalls === null || (await counts.acquireSlot(projectId, id, maxConcurrentCalls)))
        return 'begun';
      // An outbound call waits, and is not refused.
      if (direction === 'inbound') note(projectId, 'simultaneous');
      return 'full';
    },
    async recordUsage({ id, projectId }, legs) {
      await counts.renewSlot(projectId, id);
      const talked = legs.filter(({ talkTimeMs: talkedMs }) => talkedMs > 0);
      if (talked.length === 0) return true;
      const limits = await limitsOf(projectId);
      const sum = (of: (leg: BilledLeg) => number) => talked.reduce((total, leg) => total + of(leg), 0);
      const used = await counts.addUsage(projectId, {
        talkTimeMs: sum(({ talkTimeMs: talkedMs }) => talkedMs),
        spentMillionths: sum(({ to, talkTimeMs: talkedMs }) =>
          callCostMillionths(limits.rates, to, talkedMs),
        ),
      });
      return usedUp(limits, used) === undefined;
    },
    endCall: ({ id, projectId }) => counts.releaseSlot(projectId, id),
  };
}

const EXHAUSTED = {
  rate: ['call_rate_exceeded', 'This project has placed as many calls as it may for now'],
  minutes: ['call_minutes_exhausted', 'This project’s calls have talked as many minutes as they may today'],
  spending: ['call_spending_exhausted', 'This project’s calls have cost as much as they may today'],
} as const;

function overLimit(what: keyof typeof EXHAUSTED, retryAfterSeconds: number): CallwayError {
  const [code, message] = EXHAUSTED[what];
  return new CallwayError('rate_limited', code, message, { retryAfterSeconds });
}

/** What of a day's use is used up, if anything. */
function usedUp(limits: CallLimits, { talkTimeMs: talkedMs, spentMillionths }: DailyUsage) {
  const isOver = (used: number, most: number | null) => most !== null && used >= most;
  if (isOver(talkedMs, times(limits.maxCallMinutesPerDay, MS_PER_MINUTE))) return 'minutes';
  return isOver(spentMillionths, times(limits.maxSpendingPerDay, MILLIONTHS_PER_UNIT))
    ? 'spending'
    : undefined;
}

function times(limit: number | null, unit: number): number | null {
  return limit === null ? null : Math.round(limit * unit);
}
