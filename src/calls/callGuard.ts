import { type CallLimits, NO_CALL_LIMITS } from '../accounts/callLimits.ts';
import type { ProjectStore } from '../accounts/stores.ts';
import { CallwayError } from '../base/errors.ts';
import type { Call } from './call.ts';
import type { CallMeter, Refusal } from './callMeter.ts';
import type { ProjectCalls } from './coordination.ts';
import { isDestinationAllowed } from './destinations.ts';

const MS_PER_MINUTE = 60_000;

type Begun = Pick<Call, 'id' | 'projectId' | 'direction' | 'toNumber'>;

/** Holds a project's calls within what its operator allows it, over all nodes. */
export interface CallGuard {
  /**
   * Lets an outbound call be accepted, and counts it.
   *
   * @throws {CallwayError} 403 `destination_not_allowed`; 429 `call_rate_exceeded`, `call_minutes_exhausted`.
   */
  accept(projectId: string, toNumber: string): Promise<void>;
  /** @param to - A number in normal form, or a SIP URI. @throws {CallwayError} 403 `destination_not_allowed` */
  requireDestination(projectId: string, to: string): Promise<void>;
  /**
   * Lets a call begin, and takes its place among the simultaneous ones.
   *
   * @returns `full` where there is no place now; `refused` where the call may not begin any more, since the limits were
   *   changed or the day's minutes used up after it had been accepted.
   */
  begin(call: Begun): Promise<'begun' | 'full' | 'refused'>;
  /**
   * Keeps a call's place, and counts what it has talked.
   *
   * @param talkedMs - Since the last time.
   * @returns False where the day's minutes are used up: the call is to be hung up.
   */
  goOn(call: Begun, talkedMs: number): Promise<boolean>;
  /** Frees a call's place. Harmless for a call that has none. */
  end(call: Pick<Call, 'id' | 'projectId'>): Promise<void>;
}

export interface CallGuardDeps {
  readonly projects: Pick<ProjectStore, 'find'>;
  readonly counts: ProjectCalls;
  readonly meter: Pick<CallMeter, 'refused'>;
  /** A project was not let do what it wanted. */
  readonly onRefused: (projectId: string, reason: Refusal) => void;
}

export function createCallGuard({ projects, counts, meter, onRefused }: CallGuardDeps): CallGuard {
  const note = (projectId: string, reason: Refusal) => {
    meter.refused(reason);
    onRefused(projectId, reason);
  };
  const limitsOf = async (projectId: string): Promise<CallLimits> =>
    (await projects.find(projectId))?.callLimits ?? NO_CALL_LIMITS;
  const requireAllowed = (projectId: string, limits: CallLimits, to: string) => {
    if (isDestinationAllowed(limits, to)) return;
    note(projectId, 'destination');
    throw new CallwayError('forbidden', 'destination_not_allowed', `This project may not call ${to}`);
  };
  const hasMinutes = async (projectId: string, limits: CallLimits): Promise<boolean> =>
    limits.maxCallMinutesPerDay === null ||
    (await counts.talked(projectId, 0)) < limits.maxCallMinutesPerDay * MS_PER_MINUTE;

  return {
    async accept(projectId, toNumber) {
      const limits = await limitsOf(projectId);
      requireAllowed(projectId, limits, toNumber);
      const { maxCallsPerMinute, maxCallsPerHour, maxCallMinutesPerDay } = limits;
      if (maxCallsPerMinute === null && maxCallsPerHour === null && maxCallMinutesPerDay === null) return;
      const over = await counts.count(projectId, {
        perMinute: maxCallsPerMinute,
        perHour: maxCallsPerHour,
        talkedMsPerDay: maxCallMinutesPerDay === null ? null : maxCallMinutesPerDay * MS_PER_MINUTE,
      });
      if (!over) return;
      note(projectId, over.what);
      throw overLimit(over.what, over.retryAfterSeconds);
    },
    async requireDestination(projectId, to) {
      requireAllowed(projectId, await limitsOf(projectId), to);
    },
    async begin({ id, projectId, direction, toNumber }) {
      const limits = await limitsOf(projectId);
      if (direction === 'outbound') {
        const what = isDestinationAllowed(limits, toNumber) ? 'minutes' : 'destination';
        if (what === 'destination' || !(await hasMinutes(projectId, limits))) {
          note(projectId, what);
          return 'refused';
        }
      }
      const { maxConcurrentCalls } = limits;
      if (maxConcurrentCalls === null || (await counts.take(projectId, id, maxConcurrentCalls)))
        return 'begun';
      // An outbound call waits, and is not refused.
      if (direction === 'inbound') note(projectId, 'simultaneous');
      return 'full';
    },
    async goOn({ id, projectId, direction }, talkedMs) {
      await counts.renew(projectId, id);
      if (direction === 'inbound' || talkedMs <= 0) return true;
      const talkedTodayMs = await counts.talked(projectId, talkedMs);
      const { maxCallMinutesPerDay } = await limitsOf(projectId);
      return maxCallMinutesPerDay === null || talkedTodayMs < maxCallMinutesPerDay * MS_PER_MINUTE;
    },
    end: ({ id, projectId }) => counts.free(projectId, id),
  };
}

function overLimit(what: 'rate' | 'minutes', retryAfterSeconds: number): CallwayError {
  return what === 'rate'
    ? new CallwayError(
        'rate_limited',
        'call_rate_exceeded',
        'This project has placed as many calls as it may for now',
        {
          retryAfterSeconds,
        },
      )
    : new CallwayError(
        'rate_limited',
        'call_minutes_exhausted',
        'This project’s calls have talked as many minutes as they may today',
        { retryAfterSeconds },
      );
}
