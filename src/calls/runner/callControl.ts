import { type GivenTargets, type TransferOptions, transferOrder } from '../../agents/transferOptions.ts';
import { allowedTarget, type TransferTarget } from '../../agents/transferTarget.ts';
import { sleep } from '../../base/async/sleep.ts';
import { CallwayError, invalid, isUnavailable, notFound } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MediaQuality } from '../../media/mediaQuality.ts';
import type { MediaSamples } from '../../media/mediaSamples.ts';
import { type Call, isFinal } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { CallRequestName, CallRequestTypes, ReadingName } from '../nodes/callRequest.ts';
import type { CallRequests } from '../nodes/callRequests.ts';
import type { NodeBus } from '../nodes/nodeBus.ts';
import type { CallingRulesOf } from '../numbers/doNotCall.ts';
import type { Participant } from '../participants/participant.ts';
import { isListed, refusedOrder } from '../setup/callingGate.ts';
import type { CallSessions } from '../setup/callSessions.ts';
import { notListed, requireSensible, transferInProgress } from '../transfer/transferPlan.ts';
import { requireTransferTargets } from '../transfer/transferTarget.ts';
import type { CallFinisher } from './callFinisher.ts';

/** The longest time for a BYE and its answer. */
const HANGUP_TIMEOUT_MS = 5_000;
/** The longest time that a node holds a claimed call before it dials or requeues it. */
const DIALING_TIMEOUT_MS = 2_000;
/** A transfer's end is told before it is stored. */
const STORING_TIMEOUT_MS = 1_000;
const POLL_MS = 50;

/** The transfer's input as the API accepts it. */
export type TransferInput = TransferOptions & GivenTargets;

export interface CallControlDeps {
  readonly calls: CallStore;
  readonly finisher: CallFinisher;
  readonly limiter: CallLimiter;
  readonly callingRules: CallingRulesOf;
  readonly sessions: CallSessions;
  /** Returns true when the project has this trunk. */
  readonly hasTrunk: (projectId: string, trunkId: string) => Promise<boolean>;
  /** Returns true when the project has this file. */
  readonly hasMedia: (projectId: string, mediaId: string) => Promise<boolean>;
  readonly bus: NodeBus;
  readonly requests: CallRequests;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Sends commands of the API to calls, on the nodes that run them. */
export class CallControl {
  readonly #deps: CallControlDeps;

  constructor(deps: CallControlDeps) {
    this.#deps = deps;
  }

  /**
   * Requests the end of a call. A queued call is canceled at once, an ended one stays as it is.
   *
   * @throws {CallwayError} 404 `call_not_found`
   */
  async hangUp(projectId: string, callId: string): Promise<Call> {
    const { calls, finisher, bus, clock, onError } = this.#deps;
    const call = await calls.requestHangup(projectId, callId, new Date(clock.now()).toISOString());
    if (!call) return await this.#require(projectId, callId);
    if (isFinal(call.status)) {
      await finisher.settleCanceled(call);
      return call;
    }
    // The node finds the request in the stored call as well.
    await bus
      .publish({ kind: 'hangup', callId })
      .catch((error: unknown) => onError(error, 'hang-up request not published'));
    // A node has just claimed the call; it dials it or gives it up within moments.
    if (call.status !== 'queued') return call;
    return (await this.#until(call, DIALING_TIMEOUT_MS, ({ status }) => status !== 'queued')) ?? call;
  }

  /** Hangs up as `hangUp` does, then waits up to five seconds until the call has ended. */
  async hangUpAndWait(projectId: string, callId: string): Promise<void> {
    const call = await this.hangUp(projectId, callId);
    await this.#until(call, HANGUP_TIMEOUT_MS, ({ status }) => isFinal(status));
  }

  /**
   * Asks the node that runs the call to transfer it.
   *
   * @param request - The request, whose targets are numbers or `sip:` URIs.
   * @throws {CallwayError} 404 `call_not_found`, 400 `invalid_transfer_target`, `invalid_transfer`, `unknown_media`,
   *   `unknown_trunk`, 422 `destination_not_allowed`, `do_not_call`, 409 `call_not_in_progress`, `transfer_in_progress`, 503
   *   `call_unavailable`
   */
  async transfer(projectId: string, callId: string, request: TransferInput): Promise<Call> {
    const { to: single, targets: several, ...options } = request;
    const targets = requireTransferTargets({ to: single, targets: several, trunkId: options.trunkId });
    requireSensible(options);
    const call = await this.#requireInProgress(projectId, callId);
    await this.#requireNoTransfer(call);
    await this.#requireMedia(projectId, options.holdMusic);
    const allowed = await this.#requireAllowed(call, targets);
    await this.ask(projectId, callId, 'transfer', transferOrder(allowed, options));
    return call;
  }

  /**
   * Adds a person to a call.
   *
   * @param given - A number, or a `sip:` URI.
   * @throws {CallwayError} 400 `invalid_transfer_target`, `unknown_trunk`, 422 `destination_not_allowed`, `do_not_call`, or
   *   as {@link CallControl.ask}
   */
  async addParticipant(projectId: string, callId: string, given: TransferTarget): Promise<Participant> {
    const targets = requireTransferTargets({ to: given });
    const call = await this.#requireInProgress(projectId, callId);
    const [target = given] = await this.#requireAllowed(call, targets);
    return await this.ask(projectId, callId, 'add_participant', target);
  }

  /**
   * Passes a request on to the node that runs the call.
   *
   * @throws {CallwayError} 404 `call_not_found`, 503 `call_unavailable`, or as {@link LiveCall.perform}
   */
  async ask<Name extends Exclude<CallRequestName, ReadingName>>(
    projectId: string,
    callId: string,
    name: Name,
    argument: CallRequestTypes[Name][0],
  ): Promise<CallRequestTypes[Name][1]> {
    await this.#requireInProgress(projectId, callId);
    try {
      return await this.#deps.requests.ask(callId, name, argument);
    } catch (error) {
      // It may have ended meanwhile, so that no node runs it.
      if (isUnavailable(error)) await this.#requireInProgress(projectId, callId);
      throw error;
    }
  }

  /** The call's media quality, so far while it is in progress; null when its node does not answer. */
  async quality({ id, status, mediaQuality }: Call): Promise<MediaQuality | null> {
    if (status !== 'in_progress') return mediaQuality;
    return (await this.#read(id, 'read_quality')) ?? null;
  }

  /** Returns the quality of the call's received audio; undefined when it is not known. */
  async mediaSamples({ id, projectId, status }: Call): Promise<MediaSamples | undefined> {
    if (status !== 'in_progress') return await this.#deps.calls.mediaSamples(projectId, id);
    return await this.#read(id, 'read_media_samples');
  }

  async #read<Name extends ReadingName>(
    callId: string,
    name: Name,
  ): Promise<CallRequestTypes[Name][1] | undefined> {
    return await this.#deps.requests.ask(callId, name, undefined).catch((error: unknown) => {
      this.#deps.onError(error, 'figures of a call not read');
      return undefined;
    });
  }

  /** Refuses a second transfer. A transfer that has just ended may not be stored yet. */
  async #requireNoTransfer(call: Call): Promise<void> {
    const current = await this.#until(call, STORING_TIMEOUT_MS, (one) => !hasTransfer(one));
    if (!hasTransfer(current ?? call)) return;
    throw transferInProgress();
  }

  /** @returns The targets, with the trunks of the agent's `transferTargets`. */
  async #requireAllowed(call: Call, targets: readonly TransferTarget[]): Promise<readonly TransferTarget[]> {
    const { limiter, callingRules, sessions, hasTrunk } = this.#deps;
    const allowed = await sessions.transferTargets(call);
    const checked: TransferTarget[] = [];
    for (const target of targets) {
      await limiter.requireAllowedDestination(call.projectId, target.to);
      if (await isListed(callingRules, call.projectId, target.to))
        throw refusedOrder(target.to, { reason: 'do_not_call' });
      const { trunkId } = target;
      if (trunkId !== undefined && !(await hasTrunk(call.projectId, trunkId))) throw unknownTrunk(trunkId);
      const listed = allowedTarget(allowed, target);
      if (!listed) throw notListed(target.to);
      checked.push(listed);
    }
    return checked;
  }

  async #requireMedia(projectId: string, holdMusic: TransferInput['holdMusic']): Promise<void> {
    if (typeof holdMusic !== 'object') return;
    if (await this.#deps.hasMedia(projectId, holdMusic.mediaId)) return;
    const message = `This project has no media file ${holdMusic.mediaId}`;
    throw invalid('unknown_media', message, [{ path: '/holdMusic/mediaId', message }]);
  }

  /** @throws {CallwayError} 404 `call_not_found`, 409 `call_not_in_progress` */
  async #requireInProgress(projectId: string, callId: string): Promise<Call> {
    const call = await this.#require(projectId, callId);
    if (call.status === 'in_progress') return call;
    const message = `The call is ${call.status}; this needs one in progress`;
    throw new CallwayError('conflict', 'call_not_in_progress', message);
  }

  async #require(projectId: string, callId: string): Promise<Call> {
    const call = await this.#deps.calls.find(projectId, callId);
    if (!call) throw notFound('Call');
    return call;
  }

  /** Polls until `isReached` or the timeout. @returns The call as last read; undefined when it was deleted. */
  async #until(call: Call, timeoutMs: number, isReached: (call: Call) => boolean): Promise<Call | undefined> {
    const { calls, clock } = this.#deps;
    const untilMs = clock.monotonicMs() + timeoutMs;
    let current: Call | undefined = call;
    while (current && !isReached(current) && clock.monotonicMs() < untilMs) {
      await sleep(clock, POLL_MS);
      current = await calls.find(call.projectId, call.id);
    }
    return current;
  }
}

function unknownTrunk(trunkId: string): CallwayError {
  const message = `This project has no trunk ${trunkId}`;
  return invalid('unknown_trunk', message, [{ path: '/trunkId', message }]);
}

function hasTransfer({ transfer }: Call): boolean {
  return transfer !== null && (transfer.endedAt === null || transfer.outcome === 'joined');
}
