import type { ProjectStore } from '../../agents/accounts/accountStores.ts';
import { type CallLimits, NO_CALL_LIMITS } from '../../agents/accounts/callLimits.ts';
import type { UsageMeter } from '../../agents/accounts/usage.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Call } from '../call.ts';
import type { CallMetrics, RefusalReason } from '../callMetrics.ts';
import type { PhoneNumberStore } from '../numbers/phoneNumberStore.ts';
import { isDestinationAllowed } from './destinations.ts';
import {
  callCostMillionths,
  type DailyUsage,
  MILLIONTHS_PER_UNIT,
  MS_PER_MINUTE,
  type ProjectUsage,
} from './projectUsage.ts';

/** A leg that the project pays for. */
export interface BilledLeg {
  /** A number, or a SIP URI. */
  readonly to: string;
  readonly talkTimeMs: number;
}

export interface CallLimiterDeps {
  readonly projects: Pick<ProjectStore, 'find'>;
  readonly phoneNumbers: Pick<PhoneNumberStore, 'numbersOf'>;
  readonly usage: ProjectUsage;
  readonly meter: Pick<UsageMeter, 'add'>;
  readonly metrics: Pick<CallMetrics, 'callRefused'>;
  readonly onRefused: (projectId: string, reason: RefusalReason) => void;
}

/** Calls end at any time. */
const FULL_RETRY_AFTER_SECONDS = 5;
const NO_USAGE: DailyUsage = { talkTimeMs: 0, spentMillionths: 0 };

/** Enforces each project's call limits, over all nodes. */
export class CallLimiter {
  readonly #deps: CallLimiterDeps;

  constructor(deps: CallLimiterDeps) {
    this.#deps = deps;
  }

  /**
   * Admits and counts an outbound call.
   *
   * @throws {CallwayError} 422 `destination_not_allowed`; 429 `call_rate_exceeded`, `call_minutes_exhausted`,
   *   `call_spending_exhausted`.
   */
  async admitOrder(projectId: string, toNumber: string): Promise<void> {
    const limits = await this.#limitsOf(projectId);
    await this.#requireAllowed(projectId, limits, toNumber);
    const counted = {
      perMinute: limits.maxCallsPerMinute,
      perHour: limits.maxCallsPerHour,
      talkedMsPerDay: times(limits.maxCallMinutesPerDay, MS_PER_MINUTE),
      spentMillionthsPerDay: times(limits.maxSpendingPerDay, MILLIONTHS_PER_UNIT),
    };
    if (Object.values(counted).every((limit) => limit === null)) return;
    const exceeded = await this.#deps.usage.countCall(projectId, counted);
    if (!exceeded) return;
    this.#refused(projectId, exceeded.what);
    const [code, message] = EXCEEDED[exceeded.what];
    const { retryAfterSeconds } = exceeded;
    throw new CallwayError('rate_limited', code, message, { retryAfterSeconds });
  }

  /** @param to - A normalized number, or a SIP URI. @throws {CallwayError} 422 `destination_not_allowed` */
  async requireAllowedDestination(projectId: string, to: string): Promise<void> {
    await this.#requireAllowed(projectId, await this.#limitsOf(projectId), to);
  }

  /** Where a peer may redirect a call of the project to. Refusals are counted. */
  async allowedRedirects(projectId: string): Promise<(to: string) => boolean> {
    const limits = await this.#limitsOf(projectId);
    const ownNumbers = await this.#ownNumbers(projectId, limits);
    return (to) => {
      const isAllowed = isDestinationAllowed(limits, to, ownNumbers);
      if (!isAllowed) this.#refused(projectId, 'destination');
      return isAllowed;
    };
  }

  /** Whether the day's minutes and money allow another leg of a running call. */
  async hasBudget(projectId: string): Promise<boolean> {
    const exhausted = await this.#exhaustedToday(projectId, await this.#limitsOf(projectId));
    if (exhausted) this.#refused(projectId, exhausted);
    return exhausted === undefined;
  }

  /**
   * Takes a slot for a call that is about to start.
   *
   * @returns `full` when no slot is free; `refused` when the limits, or the usage, have changed since the call was
   *   accepted and forbid it now.
   */
  async startCall({
    id,
    projectId,
    direction,
    toNumber,
  }: Pick<Call, 'id' | 'projectId' | 'direction' | 'toNumber'>): Promise<'started' | 'full' | 'refused'> {
    const limits = await this.#limitsOf(projectId);
    if (direction === 'outbound') {
      const isAllowed = await this.#isAllowed(projectId, limits, toNumber);
      const reason = isAllowed ? await this.#exhaustedToday(projectId, limits) : 'destination';
      if (reason) {
        this.#refused(projectId, reason);
        return 'refused';
      }
    }
    const { maxConcurrentCalls: slots } = limits;
    if (slots === null || (await this.#deps.usage.acquireSlot(projectId, id, slots))) return 'started';
    // An outbound call waits in the queue instead.
    if (direction === 'inbound') this.#refused(projectId, 'simultaneous');
    return 'full';
  }

  /**
   * Takes a slot of the project's concurrent calls for an audio stream without a call.
   *
   * @throws {CallwayError} 429 `call_limit_exceeded`
   */
  async startStream(projectId: string, slotId: string): Promise<void> {
    const { maxConcurrentCalls: slots } = await this.#limitsOf(projectId);
    if (slots === null || (await this.#deps.usage.acquireSlot(projectId, slotId, slots))) return;
    this.#refused(projectId, 'simultaneous');
    const message = `This project has ${slots} calls and audio streams at once, its limit`;
    throw new CallwayError('rate_limited', 'call_limit_exceeded', message, {
      retryAfterSeconds: FULL_RETRY_AFTER_SECONDS,
    });
  }

  /**
   * Renews a call's slot and records its talk time.
   *
   * @param legs - With the talk time since the last call of this method; none for an inbound call.
   * @returns False when the day's minutes or money are exhausted and the call must be hung up.
   */
  async recordUsage(
    { id, projectId }: Pick<Call, 'id' | 'projectId'>,
    legs: readonly BilledLeg[],
  ): Promise<boolean> {
    const { usage } = this.#deps;
    await usage.renewSlot(projectId, id);
    const talked = legs.filter(({ talkTimeMs }) => talkTimeMs > 0);
    if (talked.length === 0) return true;
    const limits = await this.#limitsOf(projectId);
    const sum = (of: (leg: BilledLeg) => number) => talked.reduce((total, leg) => total + of(leg), 0);
    const spentMillionths = sum(({ to, talkTimeMs }) => callCostMillionths(limits.rates, to, talkTimeMs));
    this.#deps.meter.add(projectId, { costMillionths: spentMillionths });
    const talkTimeMs = sum((leg) => leg.talkTimeMs);
    const total = await usage.addUsage(projectId, { talkTimeMs, spentMillionths });
    return exhaustedBy(limits, total) === undefined;
  }

  /** Releases a call's slot, if it has one. */
  endCall({ id, projectId }: Pick<Call, 'id' | 'projectId'>): Promise<void> {
    return this.#deps.usage.releaseSlot(projectId, id);
  }

  async #limitsOf(projectId: string): Promise<CallLimits> {
    return (await this.#deps.projects.find(projectId))?.callLimits ?? NO_CALL_LIMITS;
  }

  async #requireAllowed(projectId: string, limits: CallLimits, to: string): Promise<void> {
    if (await this.#isAllowed(projectId, limits, to)) return;
    this.#refused(projectId, 'destination');
    throw new CallwayError('unprocessable', 'destination_not_allowed', `This project may not call ${to}`);
  }

  async #isAllowed(projectId: string, limits: CallLimits, to: string): Promise<boolean> {
    return isDestinationAllowed(limits, to, await this.#ownNumbers(projectId, limits));
  }

  /** Read only where the limits depend on them. */
  async #ownNumbers(projectId: string, { ownCountriesOnly }: CallLimits): Promise<readonly string[]> {
    return ownCountriesOnly ? await this.#deps.phoneNumbers.numbersOf(projectId) : [];
  }

  async #exhaustedToday(projectId: string, limits: CallLimits) {
    if (limits.maxCallMinutesPerDay === null && limits.maxSpendingPerDay === null) return undefined;
    return exhaustedBy(limits, await this.#deps.usage.addUsage(projectId, NO_USAGE));
  }

  #refused(projectId: string, reason: RefusalReason): void {
    this.#deps.metrics.callRefused(reason);
    this.#deps.onRefused(projectId, reason);
  }
}

const EXCEEDED = {
  rate: ['call_rate_exceeded', 'This project has reached its limit of new calls for now'],
  minutes: ['call_minutes_exhausted', 'This project has used its call minutes of today'],
  spending: ['call_spending_exhausted', 'This project has spent its call budget of today'],
} as const;

/** The daily limit that this usage has reached, if any. */
function exhaustedBy(limits: CallLimits, { talkTimeMs, spentMillionths }: DailyUsage) {
  const isReached = (used: number, limit: number | null) => limit !== null && used >= limit;
  if (isReached(talkTimeMs, times(limits.maxCallMinutesPerDay, MS_PER_MINUTE))) return 'minutes';
  const spendingLimit = times(limits.maxSpendingPerDay, MILLIONTHS_PER_UNIT);
  return isReached(spentMillionths, spendingLimit) ? 'spending' : undefined;
}

function times(limit: number | null, unit: number): number | null {
  return limit === null ? null : Math.round(limit * unit);
}
