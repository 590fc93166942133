import type { HoldMusicChoice } from '../../agents/transferOptions.ts';
import { allowedTarget, type TransferTarget } from '../../agents/transferTarget.ts';
import { sleep } from '../../base/async/sleep.ts';
import type { Clock } from '../../base/values/clock.ts';
import { normalizeNumber } from '../../base/values/e164.ts';
import type { StreamParty } from '../../conversation/streams/audioStream.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { type Call, projectNumber } from '../call.ts';
import type { MediaFiles } from '../holdMusic/mediaFiles.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { CallPlaces } from '../limits/callPlaces.ts';
import { transferHolder } from '../limits/slotHolders.ts';
import type { CallingRulesOf } from '../numbers/doNotCall.ts';
import type { CallStreams } from '../runner/callStreams.ts';
import { isListed, redirectRule, refusedOrder } from '../setup/callingGate.ts';
import type { CallSessions } from '../setup/callSessions.ts';
import type { CallLeg, DialRequest, Telephony } from '../telephony.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { isHostItself, selectTrunks, type TrunkSelectionDeps } from '../trunks/trunkSelection.ts';
import type { TrunkChannel } from '../trunks/trunkSlots.ts';
import { HoldMusicPlayer } from './holdMusicPlayer.ts';
import { notListed } from './transferPlan.ts';

export interface CallPartiesDeps {
  readonly telephony: Telephony;
  readonly trunks: TrunkSelectionDeps;
  readonly limiter: CallLimiter;
  readonly callingRules: CallingRulesOf;
  readonly places: CallPlaces;
  readonly sessions: CallSessions;
  readonly streams: CallStreams;
  readonly mediaFiles: MediaFiles;
  readonly clock: Clock;
}

/** A trunk at its limit of calls per second has room in the next second; one without a free channel has not. */
const MAX_WAIT_MS = 1000;
/** Other targets, and other calls, wait for the same trunk: the last of ten at once gets its turn. */
const MAX_WAITS = 10;

/** What a call's transfers and participants need: the people who are called beside the caller. */
export class CallParties {
  readonly #deps: CallPartiesDeps;
  readonly #call: Call;
  readonly #onError: (error: unknown, what: string) => void;
  readonly #channels: TrunkChannel[] = [];

  constructor(deps: CallPartiesDeps, call: Call, onError: (error: unknown, what: string) => void) {
    this.#deps = deps;
    this.#call = call;
    this.#onError = onError;
  }

  /** The channels of the legs that were dialed, which are renewed while they are held. */
  get channels(): readonly TrunkChannel[] {
    return this.#channels;
  }

  /** @throws {CallwayError} When the agent may not transfer to the target, or the project may not call it. */
  async requireAllowed(to: string, isPeersWish: boolean): Promise<void> {
    await this.#requireListed({ to });
    await this.#requireMayBeCalled(to);
    await this.#deps.limiter.requireAllowedDestination(this.#call.projectId, to, isPeersWish);
  }

  /**
   * Dials a target over its trunk, or those of the call's project number, one after the other, skipping trunks without a
   * free channel. The caller ID is the project number: which others a trunk accepts is unknown.
   *
   * @param given - A number, or a `sip:` or `tel:` URI.
   * @param options.bridgeWith - The caller's media session.
   * @throws {CallwayError} When the project's limits or do-not-call lists do not allow the call, or it has no such trunk.
   */
  async *dial(
    given: TransferTarget,
    options: { readonly bridgeWith: MediaSession; readonly ringTimeoutMs: number },
  ): AsyncGenerator<CallLeg> {
    const { telephony, trunks, limiter } = this.#deps;
    const { projectId } = this.#call;
    const { to } = given;
    // A channel of its own: those of earlier legs may still be held.
    const channel = this.#openChannel();
    const target = await this.#requireListed({
      ...given,
      to: normalizeNumber(to.replace(/^tel:/i, '')) ?? to,
    });
    await this.#requireMayBeCalled(target.to);
    await limiter.admitOrder(projectId, target.to);
    const mayRedirectTo = await redirectRule(this.#deps, projectId);
    const variables = await this.#variables();
    try {
      for (const trunk of await selectTrunks(trunks, projectId, projectNumber(this.#call), target)) {
        if (await this.#hasChannel(channel, trunk))
          yield telephony.dial({ ...requestOf(this.#call, trunk, to), ...options, variables, mayRedirectTo });
      }
    } finally {
      await channel.release();
    }
  }

  /** A stream to a voice node for one of the parties. */
  stream(party: StreamParty): Promise<StreamTarget> {
    return this.#deps.streams.party(this.#call, party);
  }

  /** The music for people who wait. */
  music(choice: HoldMusicChoice = 'default'): HoldMusicPlayer {
    const { projectId } = this.#call;
    return new HoldMusicPlayer(() => this.#deps.mediaFiles.music(projectId, choice), this.#onError);
  }

  /** @throws {CallwayError} 422 `do_not_call` */
  async #requireMayBeCalled(to: string): Promise<void> {
    if (await isListed(this.#deps.callingRules, this.#call.projectId, to))
      throw refusedOrder(to, { reason: 'do_not_call' });
  }

  #openChannel(): TrunkChannel {
    const holder = transferHolder(this.#call.id, this.#channels.length);
    const channel = this.#deps.places.openChannel(holder, null, this.#onError);
    this.#channels.push(channel);
    return channel;
  }

  /**
   * Checks the target of a customer's own bot against the agent's list. Targets of the agent and the API were checked
   * earlier.
   */
  async #requireListed(target: TransferTarget): Promise<TransferTarget> {
    if (!this.#call.settings.media) return target;
    const listed = allowedTarget(await this.#deps.sessions.transferTargets(this.#call), target);
    if (!listed) throw notListed(target.to);
    return listed;
  }

  /** The session's variables, for the trunks' headers; those of the order where they cannot be read. */
  async #variables(): Promise<Readonly<Record<string, unknown>>> {
    try {
      return await this.#deps.sessions.variables(this.#call);
    } catch (error) {
      this.#onError(error, 'variables of a call not read');
      return this.#call.settings.dynamicVariables ?? {};
    }
  }

  async #hasChannel(channel: TrunkChannel, trunk: Trunk): Promise<boolean> {
    if (isHostItself(trunk)) return true;
    for (let waits = 0; ; waits++) {
      const waitMs = await channel.moveTo(trunk);
      if (waitMs === 0) return true;
      if (waitMs > MAX_WAIT_MS || waits === MAX_WAITS) return false;
      await sleep(this.#deps.clock, waitMs);
    }
  }
}

function requestOf(
  call: Call,
  trunk: Trunk,
  to: string,
): Omit<DialRequest, 'mayRedirectTo' | 'ringTimeoutMs'> {
  const { projectId, id: callId, settings } = call;
  const fromNumber = projectNumber(call);
  const number = to.replace(/^tel:/i, '');
  return {
    projectId,
    callId,
    trunk,
    fromNumber,
    toNumber: normalizeNumber(number) ?? number,
    asGiven: { fromNumber: settings.asGiven?.fromNumber ?? fromNumber, toNumber: number },
    targetUri: /^sips?:/i.test(to) ? to : undefined,
  };
}
