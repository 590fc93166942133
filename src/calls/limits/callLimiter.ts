import type { ProjectStore } from '../../agents/accounts/accountStores.ts';
import { type CallLimits, NO_CALL_LIMITS } from '../../agents/accounts/callLimits.ts';
import type { UsageMeter } from '../../agents/accounts/usage.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import { DAY_MS } from '../../base/values/clock.ts';
import type { BilledLeg, Call, CallKey } from '../call.ts';
import type { CallMetrics, RefusalReason } from '../callMetrics.ts';
import type { PhoneNumberStore } from '../numbers/phoneNumberStore.ts';
import type { TrunkStore } from '../trunks/trunkStore.ts';
import { destinationRefusal, domainRefusal, isSipUri } from './destinations.ts';
import { callCostMillionths, MILLIONTHS_PER_UNIT, MS_PER_MINUTE, type ProjectUsage } from './projectUsage.ts';

export interface CallLimiterDeps {
  readonly projects: ProjectStore;
  readonly phoneNumbers: PhoneNumberStore;
  readonly trunks: TrunkStore;
  readonly usage: ProjectUsage;
  readonly meter: UsageMeter;
  readonly clock: Clock;
  readonly metrics: Pick<CallMetrics, 'callRefused'>;
  readonly onRefused: (projectId: string, reason: RefusalReason) => void;
}

/** The delay before a retry; calls end at any time. */
const FULL_RETRY_AFTER_SECONDS = 5;
/** The share of the calls a minute and an hour that campaigns may use. */
const CAMPAIGNS_SHARE = 0.9;
const BY_OPERATOR = 'the operator changes callLimits';

/** Enforces each project's call limits, over all nodes. */
export class CallLimiter {
  readonly #deps: CallLimiterDeps;

  constructor(deps: CallLimiterDeps) {
    this.#deps = deps;
  }

  /**
   * Admits and counts an outbound call.
   *
   * @param isCampaigns - True for a campaign, which leaves some of the calls a minute and an hour to orders by the API.
   * @throws {CallwayError} 422 `destination_not_allowed`; 429 `call_rate_exceeded`, `call_minutes_exhausted`,
   *   `call_spending_exhausted`.
   */
  async admitOrder(projectId: string, toNumber: string, isCampaigns = false): Promise<void> {
    const limits = await this.#limitsOf(projectId);
    await this.#requireAllowed(projectId, limits, toNumber);
    const exhausted = await this.#exhaustedToday(projectId, limits);
    if (exhausted) throw this.#exceeded(projectId, exhausted, limits, this.#secondsLeftToday());
    const share = (limit: number | null) =>
      isCampaigns && limit !== null ? Math.max(1, Math.floor(limit * CAMPAIGNS_SHARE)) : limit;
    const [perMinute, perHour] = [share(limits.maxCallsPerMinute), share(limits.maxCallsPerHour)];
    if (perMinute === null && perHour === null) return;
    const waitSeconds = await this.#deps.usage.countCall(projectId, { perMinute, perHour });
    if (waitSeconds !== undefined) throw this.#exceeded(projectId, 'rate', limits, waitSeconds);
  }

  /**
   * @param to - A normalized number, or a SIP URI.
   * @param isPeersWish - The peer asked for it, and calls the target itself: its host is the peer's choice.
   * @throws {CallwayError} 422 `destination_not_allowed`
   */
  async requireAllowedDestination(projectId: string, to: string, isPeersWish = false): Promise<void> {
    await this.#requireAllowed(projectId, await this.#limitsOf(projectId), to, isPeersWish);
  }

  /** Returns a check of the targets to which a peer may redirect a call of the project. Refusals are counted. */
  async allowedRedirects(projectId: string): Promise<(to: string) => boolean> {
    const refusalOf = await this.destinationRefusals(projectId);
    return (to) => {
      const isAllowed = refusalOf(to) === undefined;
      if (!isAllowed) this.#refused(projectId, 'destination');
      return isAllowed;
    };
  }

  /** Returns a check of many destinations, which tells the limit that refuses one. Its refusals are not counted. */
  async destinationRefusals(projectId: string): Promise<(to: string) => string | undefined> {
    const limits = await this.#limitsOf(projectId);
    const ownNumbers = await this.#ownNumbers(projectId, limits);
    return (to) => destinationRefusal(limits, to, ownNumbers);
  }

  /** Returns true when the day's minutes and money allow another leg of a running call. */
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
      const refusal = await this.#destinationRefusal(projectId, limits, toNumber);
      const reason = refusal ? 'destination' : await this.#exhaustedToday(projectId, limits);
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
    const message = `This project has ${slots} calls and audio streams at once, its maxConcurrentCalls; ${BY_OPERATOR}`;
    throw new CallwayError('rate_limited', 'call_limit_exceeded', message, {
      retryAfterSeconds: FULL_RETRY_AFTER_SECONDS,
    });
  }

  /** Keeps a call's slot, and puts it back if Redis has lost it. */
  renewSlot({ id, projectId }: CallKey): Promise<void> {
    return this.#deps.usage.renewSlot(projectId, id);
  }

  /**
   * Records the talk time of a call's legs since the last recording.
   *
   * @throws When nothing was recorded.
   */
  async recordUsage(projectId: string, legs: readonly BilledLeg[]): Promise<void> {
    const talked = legs.filter(({ talkTimeMs }) => talkTimeMs > 0);
    if (talked.length === 0) return;
    const { rates } = await this.#limitsOf(projectId);
    const sum = (of: (leg: BilledLeg) => number) => talked.reduce((total, leg) => total + of(leg), 0);
    await this.#deps.meter.record(projectId, {
      billedMs: sum(({ talkTimeMs }) => talkTimeMs),
      costMillionths: sum(({ to, talkTimeMs }) => callCostMillionths(rates, to, talkTimeMs)),
    });
  }

  /** Returns true when the day's minutes and money allow a running call to continue. */
  async mayContinue(projectId: string): Promise<boolean> {
    return (await this.#exhaustedToday(projectId, await this.#limitsOf(projectId))) === undefined;
  }

  /** Releases a call's slot, if it has one. */
  endCall({ id, projectId }: CallKey): Promise<void> {
    return this.#deps.usage.releaseSlot(projectId, id);
  }

  async #limitsOf(projectId: string): Promise<CallLimits> {
    return (await this.#deps.projects.find(projectId))?.callLimits ?? NO_CALL_LIMITS;
  }

  async #requireAllowed(
    projectId: string,
    limits: CallLimits,
    to: string,
    isPeersWish = false,
  ): Promise<void> {
    const ofNumber = await this.#destinationRefusal(projectId, limits, to);
    const trunks = isSipUri(to) ? await this.#deps.trunks.activeOf(projectId) : [];
    const refusal = ofNumber ?? (isPeersWish ? undefined : domainRefusal(limits, to, trunks));
    if (refusal === undefined) return;
    this.#refused(projectId, 'destination');
    const message = `This project may not call ${to}: ${refusal}; ${BY_OPERATOR}`;
    throw new CallwayError('unprocessable', 'destination_not_allowed', message);
  }

  async #destinationRefusal(projectId: string, limits: CallLimits, to: string): Promise<string | undefined> {
    return destinationRefusal(limits, to, await this.#ownNumbers(projectId, limits));
  }

  /** Reads the project's numbers when the limits depend on them; otherwise returns none. */
  async #ownNumbers(projectId: string, { ownCountriesOnly }: CallLimits): Promise<readonly string[]> {
    return ownCountriesOnly ? await this.#deps.phoneNumbers.ownNumbers(projectId) : [];
  }

  /** The daily limit that is reached, if any. */
  async #exhaustedToday(projectId: string, limits: CallLimits): Promise<'minutes' | 'spending' | undefined> {
    const { maxCallMinutesPerDay, maxSpendingPerDay } = limits;
    if (maxCallMinutesPerDay === null && maxSpendingPerDay === null) return undefined;
    const { billedMs = 0, costMillionths = 0 } = await this.#deps.meter.today(projectId);
    if (isReached(billedMs, maxCallMinutesPerDay, MS_PER_MINUTE)) return 'minutes';
    return isReached(costMillionths, maxSpendingPerDay, MILLIONTHS_PER_UNIT) ? 'spending' : undefined;
  }

  /** Returns the seconds until the next day in UTC. */
  #secondsLeftToday(): number {
    return Math.ceil((DAY_MS - (this.#deps.clock.now() % DAY_MS)) / 1000);
  }

  #exceeded(
    projectId: string,
    what: keyof typeof EXCEEDED,
    limits: CallLimits,
    retryAfterSeconds: number,
  ): CallwayError {
    this.#refused(projectId, what);
    const { code, names } = EXCEEDED[what];
    const reached = names.filter((name) => limits[name] !== null).map((name) => `${name} (${limits[name]})`);
    const message = `This project has reached its ${reached.join(' or ')}; ${BY_OPERATOR}`;
    return new CallwayError('rate_limited', code, message, { retryAfterSeconds });
  }

  #refused(projectId: string, reason: RefusalReason): void {
    this.#deps.metrics.callRefused(reason);
    this.#deps.onRefused(projectId, reason);
  }
}

const EXCEEDED = {
  rate: { code: 'call_rate_exceeded', names: ['maxCallsPerMinute', 'maxCallsPerHour'] },
  minutes: { code: 'call_minutes_exhausted', names: ['maxCallMinutesPerDay'] },
  spending: { code: 'call_spending_exhausted', names: ['maxSpendingPerDay'] },
} as const;

function isReached(used: number, limit: number | null, unit: number): boolean {
  return limit !== null && used >= Math.round(limit * unit);
}
