import type { Emitter } from '../base/emitter.ts';
import type { DtmfDigit, MediaSession } from '../media/mediaSession.ts';
import type { PhoneNumber } from './numbers/phoneNumber.ts';
import type { TestCall } from './setup/testCall.ts';
import type { RejectionReason } from './trunks/sipRejection.ts';
import type { Trunk } from './trunks/trunk.ts';

export interface Telephony {
  /**
   * Sends an INVITE over one trunk. Failover to another trunk is the caller's task.
   *
   * @returns The leg at once. Its events report the progress, and `ended` comes last and exactly once. The first
   *   event comes after the current turn of the event loop, so that listeners added after an awaited promise miss none.
   */
  dial(request: DialRequest): CallLeg;
  onInboundCall(handler: (call: InboundCall) => void): void;
}

export interface DialRequest {
  readonly projectId: string;
  readonly callId: string;
  readonly trunk: Trunk;
  /** Normalized; formatted by telephony as the trunk wants it. */
  readonly fromNumber: string;
  readonly toNumber: string;
  /** The numbers as in the API request, for trunks with the number format `as_given`. @see formatNumber */
  readonly asGiven?: { readonly fromNumber: string; readonly toNumber: string };
  /** The session's variables, for the headers that the trunk names. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Returns true when the peer may redirect the call to a URI. */
  readonly mayRedirectTo: (uri: string) => Promise<boolean>;
  /** A `sip:` or `sips:` URI to call over the trunk instead of the number. */
  readonly targetUri?: string;
  /** The media session that this leg's is going to be bridged with. */
  readonly bridgeWith?: MediaSession;
  /** The time from INVITE to the final response. After it the leg sends CANCEL. */
  readonly ringTimeoutMs: number;
}

/** An inbound call that is not answered yet. */
export interface InboundCall {
  readonly sipCallId: string;
  readonly projectId: string;
  readonly trunk: Trunk;
  /** The numbers as the carrier wrote them, normalized if they are valid. */
  readonly fromNumber: string;
  readonly toNumber: string;
  /** The variables from the headers that the trunk names. */
  readonly variables: Readonly<Record<string, string>>;
  /** The test; undefined for calls that are not of simulated callers. */
  readonly test?: TestCall | undefined;
  /** The called number; undefined when no project holds it that is reached over the trunk. */
  readonly number: PhoneNumber | undefined;
  /** Sends 180 Ringing. */
  ring(): void;
  /** Starts to open the media session, which `answer` needs; it is closed if the call is not answered. */
  prepareMedia(callId: string): void;
  /** Sends 200 with our answer; the leg's `answered` follows on the ACK. */
  answer(callId: string): Promise<CallLeg>;
  /**
   * @param sipCode - The status, 400..699.
   * @param retryAfterSeconds - The value of the Retry-After header.
   * @returns The response; nothing is sent when the call was answered, rejected or canceled before.
   * @see RFC 3261 section 20.33
   */
  reject(
    sipCode: number,
    reason: RejectionReason,
    retryAfterSeconds?: number,
  ): { readonly code: number; readonly reason: string };
  /** Aborted when the caller hangs up before `answer` or `reject`. */
  readonly canceled: AbortSignal;
}

/** A SIP dialog with its media session, from the first INVITE to the last BYE. */
export interface CallLeg {
  readonly sipCallId: string;
  readonly trunkId: string;
  /** The trunk's transfer method. */
  readonly transferMethod: Trunk['transfer'];
  /**
   * The URI for a REFER of another leg of the same peer: its target replaces this leg (Replaces). Undefined before the
   * answer.
   *
   * @see RFC 5589 section 7, RFC 3891
   */
  readonly replacingUri: string | undefined;
  /** The leg's media session; undefined until its port is reserved. */
  readonly media: MediaSession | undefined;
  readonly events: Emitter<LegEvents>;
  /** CANCEL before the answer, BYE after it. Resolves when the leg has ended. Idempotent. */
  hangup(reason?: HangupReason): Promise<void>;
  /** Sends digits as RFC 4733 events or by SIP INFO, as the trunk's settings say. */
  sendDtmf(digits: string): Promise<void>;
  /**
   * Transfer by REFER; on success the peer ends the leg.
   *
   * @param to - A normalized number, or a `sip:` URI; the `replacingUri` of another leg for an attended transfer.
   * @param timeoutMs - The time that the peer has to report the result. Default: two minutes.
   * @throws {CallwayError} `transfer_unsupported` when the peer, or the trunk's setting, does not allow REFER;
   *   `transfer_failed` with the peer's status, as `sipStatus` of its `extra` too. The call continues.
   */
  refer(to: string, timeoutMs?: number): Promise<void>;
}

/** The content of the Reason header. @see RFC 3326 */
export interface HangupReason {
  readonly q850Cause: number;
  readonly text: string;
}

export interface LegEvents {
  /** @property hasEarlyMedia - The peer plays audio before the answer (183 with SDP). */
  readonly ringing: { readonly hasEarlyMedia: boolean };
  /** `media` is connected and audio flows both ways, unless `ended` follows at once. */
  readonly answered: { readonly atMs: number };
  /** The peer put us on hold, or resumed. */
  readonly held: { readonly isHeld: boolean };
  /** The feature that the call continues without. */
  readonly warning: LegWarning;
  /** The digit that SIP INFO has brought. */
  readonly dtmf: DtmfDigit;
  /** The peer sent us a REFER. */
  readonly transferRequested: { readonly to: string };
  readonly ended: LegEnd;
}

interface LegWarning {
  /** `no_dtmf`: the peer agreed to no telephone events, which the trunk's digits are sent as. */
  readonly code: 'no_dtmf';
  readonly message: string;
}

export interface LegEnd {
  readonly outcome: LegOutcome;
  /** The final response, 200 for a BYE; null when there was none. The reason of a 200 may say why we sent the BYE. */
  readonly sip: { readonly code: number; readonly reason: string } | null;
  /** The cause from a Reason header, or the default for the SIP status. @see RFC 3398 section 8.2.6.1 */
  readonly q850Cause: number | null;
}

/**
 * Outcomes after the answer are `remote_hangup`, `local_hangup` and `lost` (the dialog or the control connection is
 * gone).
 *
 * Outcomes before the answer are: `lost` when it is unknown whether the phone still rings; `unreachable` for no
 * response within the trunk's time, no route to the host, or 408 without ringing; `no_answer` for the ring timeout, 408
 * after ringing and 480; `declined` for 603, 607 and 608; `busy` for 486 and 600; `invalid_number` for 404, 410, 484
 * and 604; `rejected` for other 3xx, 4xx and 6xx; `trunk_error` for 5xx, for 401 and 407 that our password does not
 * satisfy, and for failures on our side.
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
