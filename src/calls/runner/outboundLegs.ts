import type { Clock } from '../../base/values/clock.ts';
import type { Call } from '../call.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { CallingRulesOf } from '../numbers/doNotCall.ts';
import { callingRefusal, plannedCall, redirectRule } from '../setup/callingGate.ts';
import type { CallSessions, StartedSession } from '../setup/callSessions.ts';
import type { CallLeg, DialRequest, Telephony } from '../telephony.ts';
import type { Trunk } from '../trunks/trunk.ts';
import type { TrunkChannel } from '../trunks/trunkSlots.ts';
import type { HangupIntent } from './callResult.ts';
import type { CallWriter } from './callWriter.ts';

export interface OutboundLegsDeps {
  readonly telephony: Telephony;
  readonly channel: TrunkChannel;
  readonly limiter: CallLimiter;
  readonly sessions: CallSessions;
  readonly callingRules: CallingRulesOf;
  readonly writer: CallWriter;
  /** Asks the campaign of a call whether it may be dialed now. @returns Why not. */
  readonly campaignRefusal: (call: Call) => Promise<'campaign_stopped' | 'outside_calling_hours' | undefined>;
  readonly clock: Clock;
}

export type DialedLeg =
  | { readonly trunk: Trunk; readonly leg: CallLeg; readonly started: StartedSession | undefined }
  /** The call must not be dialed any more. */
  | { readonly hangUp: HangupIntent };

/** Dials a call over its trunks, one after the other. */
export class OutboundLegs {
  readonly #deps: OutboundLegsDeps;
  readonly #call: Call;
  readonly #trunks: Trunk[];
  #isStored: boolean;
  #started: StartedSession | undefined;

  constructor(deps: OutboundLegsDeps, call: Call, trunks: readonly Trunk[]) {
    this.#deps = deps;
    this.#call = call;
    this.#trunks = [...trunks];
    this.#isStored = call.status !== 'queued';
  }

  /**
   * @param signal - Aborted when the call is hung up.
   * @returns Undefined when no trunk is left, or when the next one has no free channel.
   */
  async next(signal: AbortSignal): Promise<DialedLeg | undefined> {
    const trunk = this.#trunks.shift();
    if (!trunk || (await this.#deps.channel.moveTo(trunk)) > 0) return undefined;
    const refused = this.#isStored ? undefined : await this.#prepareFirst(trunk, signal);
    if (refused) return { hangUp: refused };
    const ordered = { call: plannedCall(this.#call), clock: this.#deps.clock };
    const mayRedirectTo = await this.#deps.writer.run(
      () => redirectRule(this.#deps, this.#call.projectId, ordered),
      'limits not read, retrying',
    );
    const refusal = await this.#refusal();
    if (refusal) return { hangUp: refusal };
    const leg = this.#deps.telephony.dial({ ...this.#requestFor(trunk), mayRedirectTo });
    return { trunk, leg, started: this.#started };
  }

  /** What has changed since the call was ordered counts until the moment of the INVITE. */
  #refusal(): Promise<HangupIntent | undefined> {
    const { writer, callingRules, campaignRefusal, clock } = this.#deps;
    return writer.run(async () => {
      // Together, so that little time passes until the INVITE.
      const [refusal, ofCampaign] = await Promise.all([
        callingRefusal(callingRules, plannedCall(this.#call), clock.now()),
        campaignRefusal(this.#call),
      ]);
      return refusal?.reason ?? ofCampaign;
    }, 'calling rules not read, retrying');
  }

  async #prepareFirst(trunk: Trunk, signal: AbortSignal): Promise<HangupIntent | undefined> {
    this.#started = await this.#deps.sessions.start({ ...this.#call, trunkId: trunk.id }, signal);
    if (signal.aborted) return 'api_hangup';
    const isRejected = this.#started?.session.state.rejectedWith !== undefined;
    return isRejected ? 'rejected' : await this.#storeDialing(trunk);
  }

  /** Stored before the first INVITE, so that no other node dials the number again if this one fails. */
  async #storeDialing(trunk: Trunk): Promise<HangupIntent | undefined> {
    const startedAt = new Date(this.#deps.clock.now()).toISOString();
    const stored = await this.#deps.writer.update({ status: 'dialing', startedAt, trunkId: trunk.id });
    this.#isStored = true;
    if (!stored) return 'node_lost';
    return stored.hangupRequested ? 'api_hangup' : undefined;
  }

  #requestFor(trunk: Trunk): Omit<DialRequest, 'mayRedirectTo'> {
    const { projectId, id: callId, fromNumber, toNumber, settings } = this.#call;
    return {
      projectId,
      callId,
      trunk,
      fromNumber,
      toNumber,
      variables: this.#started?.session.state.variables ?? settings.dynamicVariables ?? {},
      ringTimeoutMs: settings.ringTimeoutSeconds * 1000,
      asGiven: settings.asGiven,
    };
  }
}
