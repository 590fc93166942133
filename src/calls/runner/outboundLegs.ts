import type { Call } from '../call.ts';
import type { CallLeg, DialRequest, Telephony } from '../telephony.ts';
import type { Trunk } from '../trunks/trunk.ts';
import type { TrunkChannel } from '../trunks/trunkSlots.ts';
import type { HangupIntent } from './callResult.ts';
import type { CallWriter } from './callWriter.ts';

export interface OutboundLegsDeps {
  readonly telephony: Pick<Telephony, 'dial'>;
  readonly channel: TrunkChannel;
  readonly writer: Pick<CallWriter, 'update'>;
  readonly now: () => number;
}

export type DialedLeg =
  | { readonly trunk: Trunk; readonly leg: CallLeg }
  /** The call must not be dialed any more. */
  | { readonly hangUp: HangupIntent };

/** Dials a call over its trunks, one after the other. */
export class OutboundLegs {
  readonly #deps: OutboundLegsDeps;
  readonly #call: Call;
  readonly #trunks: Trunk[];
  #isStored: boolean;

  constructor(deps: OutboundLegsDeps, call: Call, trunks: readonly Trunk[]) {
    this.#deps = deps;
    this.#call = call;
    this.#trunks = [...trunks];
    this.#isStored = call.status !== 'queued';
  }

  /** @returns Undefined when no trunk is left, or the next one has no free channel. */
  async next(): Promise<DialedLeg | undefined> {
    const trunk = this.#trunks.shift();
    if (!trunk || (await this.#deps.channel.moveTo(trunk)) > 0) return undefined;
    const refused = this.#isStored ? undefined : await this.#storeDialing(trunk);
    if (refused) return { hangUp: refused };
    return { trunk, leg: this.#deps.telephony.dial(this.#requestFor(trunk)) };
  }

  /** Stored before the first INVITE, so that no other node dials the number again if this one fails. */
  async #storeDialing(trunk: Trunk): Promise<HangupIntent | undefined> {
    const startedAt = new Date(this.#deps.now()).toISOString();
    const stored = await this.#deps.writer.update({ status: 'dialing', startedAt, trunkId: trunk.id });
    this.#isStored = true;
    if (!stored) return 'node_lost';
    return stored.hangupRequested ? 'api_hangup' : undefined;
  }

  #requestFor(trunk: Trunk): DialRequest {
    const { projectId, id: callId, fromNumber, toNumber, settings } = this.#call;
    return {
      projectId,
      callId,
      trunk,
      fromNumber,
      toNumber,
      ringTimeoutMs: settings.ringTimeoutSeconds * 1000,
      ...(settings.asGiven ? { asGiven: settings.asGiven } : {}),
    };
  }
}
