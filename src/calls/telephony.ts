import type { Emitter } from '../base/emitter.ts';
import type { DtmfDigit, MediaSession } from '../media/mediaSession.ts';
import type { PhoneNumber } from './numbers/phoneNumber.ts';
import type { Trunk } from './trunks/trunk.ts';

/** Places legs; telephony implements it. */
export interface Telephony {
  /**
   * Sends an INVITE over one trunk. Trying another one after it is the caller's business.
   *
   * @returns At once; what becomes of it is announced by the leg's events, `ended` last and exactly once, and none of
   *   them before the event loop's next turn: who gets the leg through promises misses nothing.
   */
  dial(request: DialRequest): CallLeg;
  /** Takes the calls that come in; each handler's decision is final. */
  onInboundCall(handler: (call: InboundCall) => void): void;
}

export interface DialRequest {
  readonly projectId: string;
  readonly callId: string;
  readonly trunk: Trunk;
  /** In the product's normal form; the trunk's number format is applied by telephony. */
  readonly fromNumber: string;
  readonly toNumber: string;
  /** As the API's caller wrote them, for trunks whose number format is `as_given`. @see writeNumber */
  readonly asGiven?: { readonly fromNumber: string; readonly toNumber: string };
  /** Called over the trunk instead of the number: a `sip:` or `sips:` URI. */
  readonly targetUri?: string;
  /** A call whose audio this leg's is to be joined with. */
  readonly bridgeWith?: MediaSession;
  /** From INVITE to the final answer; then CANCEL. */
  readonly ringTimeoutMs: number;
}

/** A call that rings here. */
export interface InboundCall {
  readonly sipCallId: string;
  readonly projectId: string;
  readonly trunk: Trunk;
  /** As the carrier wrote them, in the product's normal form where they are numbers. */
  readonly fromNumber: string;
  readonly toNumber: string;
  /** That of the project that is called; undefined where it has none like it. */
  readonly number: PhoneNumber | undefined;
  /** Sends 180. */
  ring(): void;
  /** Begins to open the audio, which `answer` needs; it is closed when the call is not answered. */
  prepareMedia(callId: string): void;
  /** Sends 200 with our answer; the leg's `answered` follows on the ACK. */
  answer(callId: string): Promise<CallLeg>;
  /** @param sipCode - 400..699. @param options - When the caller may try again. @see RFC 3261 section 20.33 */
  reject(sipCode: number, options?: { readonly retryAfterSeconds: number }): void;
  /** Announced when the caller gives up before `answer` or `reject`. */
  readonly canceled: AbortSignal;
}

/** One SIP dialog with its audio, from the first INVITE to the last BYE. */
export interface CallLeg {
  readonly sipCallId: string;
  readonly trunkId: string;
  /** Undefined until a port was reserved for it. */
  readonly media: MediaSession | undefined;
  readonly events: Pick<Emitter<LegEvents>, 'on'>;
  /** CANCEL before the answer, BYE after it; resolves when the leg has ended. Idempotent. */
  hangup(reason?: HangupReason): Promise<void>;
  /** By the trunk's way: RFC 4733 events or SIP INFO. */
  sendDtmf(digits: string): Promise<void>;
  /**
   * Blind transfer by REFER; on success the peer ends the leg.
   *
   * @param to - A number in the product's normal form, or a `sip:` URI.
   * @throws {CallwayError} `transfer_unsupported` where the peer takes no REFER, or the trunk wants none; `transfer_failed`
   *   with the peer's status. The call goes on.
   */
  transfer(to: string): Promise<void>;
}

/** Goes into the Reason header. @see RFC 3326 */
export interface HangupReason {
  readonly q850Cause: number;
  readonly text: string;
}

export interface LegEvents {
  /** Whether the peer plays audio before the answer (183 with SDP). */
  readonly ringing: { readonly hasEarlyMedia: boolean };
  /** Audio flows both ways from here on; `media` is there and connected, unless `ended` follows at once. */
  readonly answered: { readonly atMs: number };
  /** The peer put us on hold, or took us back. */
  readonly held: { readonly isHeld: boolean };
  /** A digit that came by SIP INFO. */
  readonly dtmf: DtmfDigit;
  /** The peer asks that the call goes on elsewhere (REFER towards us). */
  readonly transferRequested: { readonly to: string };
  readonly ended: LegEnd;
}

/** How a leg ended; what may be tried on another trunk is decided by `calls/routing`. */
export interface LegEnd {
  readonly outcome: LegOutcome;
  /** The final answer, the BYE's place being taken by 200; null where none came. */
  readonly sip: { readonly code: number; readonly reason: string } | null;
  /** From a Reason header, or the usual one of the SIP code. @see RFC 3398 section 8.2.6.1 */
  readonly q850Cause: number | null;
}

/**
 * After the answer: `remote_hangup`, `local_hangup`, `lost` (dialog or control connection gone). Before it: the rest, and
 * `lost` where nobody knows whether the phone still rings.
 * `unreachable` is no answer of any kind within the trunk's time, no way to the host, or 408 without ringing;
 * `no_answer` the ring timeout, 408 after ringing and 480; `declined` 603, 607, 608; `busy` 486, 600; `invalid_number`
 * 404, 484, 604; `rejected` other 3xx, 4xx and 6xx; `trunk_error` 5xx, 401 and 407 that our password does not satisfy,
 * and what else goes wrong on our side of the trunk.
 */
export type LegOutcome =
  | 'remote_hangup'
  | 'local_hangup'
  | 'lost'
  | 'canceled'
  | 'busy'
  | 'no_answer'
  | 'declined'
  | 'unreachable'
  | 'invalid_number'
  | 'rejected'
  | 'trunk_error';
