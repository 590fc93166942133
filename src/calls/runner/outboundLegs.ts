import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { Session } from '../../engine/session/session.ts';
import { type Call, callFacts } from '../call.ts';
import type { CallLeg, DialRequest, Telephony } from '../telephony.ts';
import type { Trunk } from '../trunks/trunk.ts';
import type { TrunkChannel } from '../trunks/trunkSlots.ts';
import type { HangupIntent } from './callResult.ts';
import type { CallWriter } from './callWriter.ts';

export interface OutboundLegsDeps {
  readonly telephony: Pick<Telephony, 'dial'>;
  readonly channel: TrunkChannel;
  readonly writer: Pick<CallWriter, 'update'>;
  readonly conversations: Pick<ConversationEngine, 'start'>;
  readonly now: () => number;
  readonly allowedRedirects: () => Promise<DialRequest['mayRedirectTo']>;
  readonly onError: (error: unknown, what: string) => void;
}

export type DialedLeg =
  | { readonly trunk: Trunk; readonly leg: CallLeg; readonly session: Session | undefined }
  /** The call must not be dialed any more. */
  | { readonly hangUp: HangupIntent };

/** Dials a call over its trunks, one after the other. */
export class OutboundLegs {
  readonly #deps: OutboundLegsDeps;
  readonly #call: Call;
  readonly #trunks: Trunk[];
  #isStored: boolean;
  /** At its start; undefined when it was not read. */
  #session: Session | undefined;

  constructor(deps: OutboundLegsDeps, call: Call, trunks: readonly Trunk[]) {
    this.#deps = deps;
    this.#call = call;
    this.#trunks = [...trunks];
    this.#isStored = call.status !== 'queued';
  }

  /**
   * @param signal - Aborted when the call is hung up.
   * @returns Undefined when no trunk is left, or the next one has no free channel.
   */
  async next(signal: AbortSignal): Promise<DialedLeg | undefined> {
    const trunk = this.#trunks.shift();
    if (!trunk || (await this.#deps.channel.moveTo(trunk)) > 0) return undefined;
    const refused = this.#isStored ? undefined : await this.#prepareFirst(trunk, signal);
    if (refused) return { hangUp: refused };
    const mayRedirectTo = await this.#deps.allowedRedirects();
    const leg = this.#deps.telephony.dial({ ...this.#requestFor(trunk), mayRedirectTo });
    return { trunk, leg, session: this.#session };
  }

  async #prepareFirst(trunk: Trunk, signal: AbortSignal): Promise<HangupIntent | undefined> {
    const isRejected = await this.#startSession(trunk, signal);
    if (signal.aborted) return 'api_hangup';
    return isRejected ? 'rejected' : await this.#storeDialing(trunk);
  }

  /** Asks the agent's `beforeStartConfig`. @returns Whether it rejects the call. */
  async #startSession(trunk: Trunk, signal: AbortSignal): Promise<boolean> {
    const { projectId, sessionId, settings } = this.#call;
    const call = callFacts({ ...this.#call, trunkId: trunk.id });
    const starting = { projectId, sessionId, call, traceparent: settings.traceparent };
    try {
      this.#session = await this.#deps.conversations.start(starting, signal);
      return this.#session?.state.rejectedWith !== undefined;
    } catch (error) {
      // The first turn asks again.
      if (!signal.aborted) this.#deps.onError(error, 'session of a call not started before its INVITE');
      return false;
    }
  }

  /** Stored before the first INVITE, so that no other node dials the number again if this one fails. */
  async #storeDialing(trunk: Trunk): Promise<HangupIntent | undefined> {
    const startedAt = new Date(this.#deps.now()).toISOString();
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
      variables: this.#session?.state.variables ?? settings.dynamicVariables ?? {},
      ringTimeoutMs: settings.ringTimeoutSeconds * 1000,
      ...(settings.asGiven ? { asGiven: settings.asGiven } : {}),
    };
  }
}
