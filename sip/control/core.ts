import type { Clock, Timer } from '../clock.ts';
import type { DialogState } from '../dialog/dialogState.ts';
import type { Retransmission } from '../dialog/retransmission.ts';
import type { SessionTimer } from '../dialog/sessionTimer.ts';
import type { Ids } from '../ids.ts';
import type { SipUri } from '../message/fields/uri.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import type { ObserveRefusal } from '../refusals.ts';
import type { Counters } from '../stats.ts';
import type { ClientTransaction } from '../transaction/client.ts';
import type { TransactionLayer } from '../transaction/layer.ts';
import type { SipTimes } from '../transaction/machine.ts';
import type { ServerTransaction } from '../transaction/server.ts';
import type { TransportLayer } from '../transport/layer.ts';
import type { Target } from '../transport/resolver.ts';
import type { Endpoint, Flow } from '../transport/types.ts';
import type { Application, Applications } from './protocol/applications.ts';
import type { TcpUpgrade } from './uac/tcpUpgrade.ts';

/** Timeouts after which the server acts for the application. */
export interface ControlTimes {
  /** An INVITE without any response from the application gets 480. */
  readonly firstAnswerMs: number;
  /** An INVITE with only provisional responses gets 480. */
  readonly finalAnswerMs: number;
  /** Interval of repeated provisional responses, which keep proxies from canceling. @see RFC 3261 section 13.3.1.1 */
  readonly provisionalMs: number;
  /** Any other request without a response gets 480, a BYE 200. */
  readonly requestAnswerMs: number;
  /** The time for which the calls of a disconnected application are kept. */
  readonly graceMs: number;
  /** The time that a target may be silent while others are left to try. */
  readonly failoverMs: number;
  /** Min-SE: the shortest session interval accepted. */
  readonly minSessionSeconds: number;
}

export const defaultControlTimes: ControlTimes = {
  firstAnswerMs: 20_000,
  finalAnswerMs: 300_000,
  provisionalMs: 60_000,
  requestAnswerMs: 15_000,
  graceMs: 60_000,
  failoverMs: 4000,
  minSessionSeconds: 90,
};

/** A request from the network that waits for the application's response. */
export interface IncomingRequest {
  readonly id: string;
  readonly transaction: ServerTransaction;
  readonly application: Application;
  /** The To tag of all our responses to this request. */
  toTag: string;
  readonly dialogId: string;
  dialog: Dialog | undefined;
  /** The timer that responds for the application. */
  answerTimeout: Timer;
  /** The timer that repeats the latest provisional response. */
  provisionalRefresh: Timer | undefined;
  /** The proxy; set while the request is proxied. */
  proxy: { cancel(): void } | undefined;
  /** Reliable provisional responses, the unacknowledged one first. @see RFC 3262 */
  reliable: ReliableQueue;
}

interface ReliableQueue {
  nextNumber: number;
  current: { number: number; retransmission: Retransmission; hasBody: boolean } | undefined;
  /** The responses to send after the current one is acknowledged. */
  waiting: (() => void)[];
}

/** A request that an application has sent, until its final response. */
export interface OutgoingRequest {
  readonly id: string;
  readonly application: Application;
  /** The request without our Via, for the next target. */
  readonly template: SipRequest;
  readonly dialogId: string;
  dialog: Dialog | undefined;
  transaction: ClientTransaction;
  targets: Target[];
  failover: Timer | undefined;
  canceled: { headers: [string, string][]; sent: boolean } | undefined;
  /** The early dialogs of an INVITE, one for each callee that has responded. */
  earlyDialogs: Dialog[];
  /** The RSeq of the latest reliable provisional response of each callee, by its tag. */
  readonly lastRSeqs: Map<string, number>;
}

/** The ACK to a 2xx of the peer: first awaited from the application, then kept for retransmissions. */
export interface PendingAck {
  readonly sequence: number;
  /** The ACK without our Via; `undefined` until the application has sent it. */
  readonly request: SipRequest | undefined;
  /** The response as sent on the wire. */
  sent: { readonly flow: Flow; readonly text: string } | undefined;
  readonly limit: Timer | undefined;
}

/** A dialog, its application and its pending transactions. */
export interface Dialog {
  /** The dialog id of the control protocol. Early dialogs of one INVITE share it; it then names the latest. */
  readonly id: string;
  readonly role: 'uac' | 'uas';
  readonly kind: string;
  readonly application: Application;
  readonly state: DialogState;
  confirmed: boolean;
  /** The peer's actual address, when its Contact is wrong, as behind a NAT. */
  natFlow: Flow | undefined;
  /** The flow of the peer's last message. */
  lastFlow: Flow;
  /** Our 2xx without an ACK so far. */
  unacknowledged2xx:
    | { sequence: number; transactionId: string; retransmission: Retransmission; isFirst: boolean }
    | undefined;
  pendingAck: PendingAck | undefined;
  /** A reliable provisional response that was followed by the 2xx before its PRACK. */
  lateRack: { readonly responseNumber: number; readonly sequence: number } | undefined;
  /** The peer's pending INVITE. */
  incomingInvite: IncomingRequest | undefined;
  /** Our pending INVITE. */
  outgoingInvite: OutgoingRequest | undefined;
  /** Our last session description, for session refreshes. */
  localBody: { type: string; body: string } | undefined;
  peerAllowsUpdate: boolean;
  sessionTimer: (SessionTimer & { timer: Timer }) | undefined;
  /** Our CANCEL crossed the 2xx: BYE follows the ACK. */
  endAfterAck: boolean;
  /** Keeps the requests of the dialog in order while a host name is resolved. */
  sending: Promise<void> | undefined;
}

/** The state that the UAC, UAS and proxy cores share. @see RFC 3261 section 6, "core" */
export interface Core {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly counters: Counters;
  readonly sipTimes: SipTimes;
  readonly times: ControlTimes;
  readonly transport: TransportLayer;
  readonly transactions: TransactionLayer;
  readonly applications: Applications;
  readonly incomingRequests: IncomingRequestTable;
  readonly outgoingRequests: OutgoingRequestTable;
  readonly dialogs: DialogTable;
  /** Synchronous for address literals, by DNS for host names. */
  resolve(uri: SipUri): Target[] | Promise<Target[]>;
  readonly tcpUpgrade: TcpUpgrade;
  /** True when applications receive 100 Trying. */
  readonly showTrying: boolean;
  /** True when new calls are rejected. */
  isShuttingDown: boolean;
  /** Returns true when the User-Agent is that of a known scanner. */
  isScanner(request: SipRequest): boolean;
  announceCdr(event: CdrEvent): void;
  /** A request was rejected that no application has seen. */
  readonly onRefused?: ObserveRefusal | undefined;
}

export interface CdrEvent {
  readonly verb: 'cdr:attempt' | 'cdr:start' | 'cdr:stop';
  readonly source: 'network' | 'application';
  /** The fourth field of the event; none for an attempt. */
  readonly detail?: string;
  readonly message: SipRequest | SipResponse;
}

/** The requests that wait for an application. */
export interface IncomingRequestTable {
  readonly size: number;
  add(incoming: IncomingRequest): void;
  remove(incoming: IncomingRequest): void;
  byId(id: string): IncomingRequest | undefined;
  byTransaction(transaction: ServerTransaction): IncomingRequest | undefined;
  /** Returns true when the same request has arrived by another path. @see RFC 3261 section 8.2.2.2 */
  hasMerged(request: SipRequest): boolean;
  /** Returns true when one of the requests creates the dialog of that id. */
  createsDialog(dialogId: string): boolean;
  ofApplication(application: Application): IncomingRequest[];
  all(): IncomingRequest[];
}

/** The requests of applications without a final response. */
export interface OutgoingRequestTable {
  readonly size: number;
  add(sent: OutgoingRequest): void;
  remove(sent: OutgoingRequest): void;
  byId(id: string): OutgoingRequest | undefined;
  /** Returns true when one of the requests creates the dialog of that id. */
  createsDialog(dialogId: string): boolean;
  all(): OutgoingRequest[];
}

/** The dialogs by the control protocol's dialog id and by their tags. */
export interface DialogTable {
  readonly size: number;
  /** A shared id names the dialog added last; adding one again makes it the last. */
  add(dialog: Dialog): void;
  remove(dialog: Dialog): void;
  has(dialog: Dialog): boolean;
  byId(id: string): Dialog | undefined;
  /** Finds a dialog by both tags, since both ends of a call may be ours. @see RFC 3261 section 12 */
  byTags(callId: string, localTag: string, remoteTag: string): Dialog | undefined;
  ofCall(callId: string): Dialog[];
  ofApplication(application: Application): Dialog[];
  all(): Iterable<Dialog>;
}

export function messageMeta(core: Core, peer: Endpoint, lengthBytes: number) {
  return {
    lengthBytes,
    protocol: peer.transport,
    address: peer.address,
    port: peer.port,
    atMs: core.clock.now(),
  };
}
