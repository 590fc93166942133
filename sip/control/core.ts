import type { Clock, Timer } from '../clock.ts';
import type { DialogState } from '../dialog/dialogState.ts';
import type { Retransmission } from '../dialog/retransmission.ts';
import type { SessionTimer } from '../dialog/sessionTimer.ts';
import type { Ids } from '../ids.ts';
import type { SipUri } from '../message/fields/uri.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
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

/** How long things may take before the server decides in the application's place. */
export interface ControlTimes {
  /** An INVITE to which the application says nothing at all is answered 480. */
  readonly firstAnswerMs: number;
  /** An INVITE that was only ever answered provisionally is answered 480. */
  readonly finalAnswerMs: number;
  /** A provisional answer is repeated so often, for proxies that would give the call up. @see RFC 3261 section 13.3.1.1 */
  readonly provisionalMs: number;
  /** Any other request that the application leaves unanswered is answered 480 (a BYE 200). */
  readonly requestAnswerMs: number;
  /** How long calls of an application that lost its connection are kept. */
  readonly graceMs: number;
  /** How long one of several targets may be silent before the next one is tried. */
  readonly failoverMs: number;
  /** Smallest session interval accepted. */
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

/** A request from the network that waits for the application's answer. */
export interface IncomingRequest {
  readonly id: string;
  readonly transaction: ServerTransaction;
  readonly application: Application;
  /** Ours, the same on all answers to this request. */
  toTag: string;
  readonly dialogId: string;
  dialog: Dialog | undefined;
  /** Ends the waiting. */
  answerTimeout: Timer;
  /** Repeats the newest provisional answer. */
  provisionalRefresh: Timer | undefined;
  /** Set while several targets are asked on the application's behalf. */
  proxy: { cancel(): void } | undefined;
  /** Reliable provisional answers, the one under way first. @see RFC 3262 */
  reliable: ReliableQueue;
}

export interface ReliableQueue {
  nextNumber: number;
  current: { number: number; repeating: Retransmission; hasBody: boolean } | undefined;
  /** What must wait until the current one is acknowledged. */
  waiting: (() => void)[];
}

/** A request that an application sent and that waits for its answer. */
export interface OutgoingRequest {
  readonly id: string;
  readonly application: Application;
  /** Without our Via, to be sent to the next target if need be. */
  readonly template: SipRequest;
  readonly dialogId: string;
  dialog: Dialog | undefined;
  transaction: ClientTransaction;
  targets: Target[];
  failover: Timer | undefined;
  canceled: { headers: [string, string][]; sent: boolean } | undefined;
  /** The early dialogs of an INVITE, one for each callee that has answered so far. */
  earlyDialogs: Dialog[];
  /** The newest reliable provisional answer that was delivered of each callee, by its tag. */
  readonly lastRSeqs: Map<string, number>;
}

/** A 2xx of the peer that waits for the application's ACK, and later the ACK. */
export interface PendingAck {
  readonly sequence: number;
  /** The ACK, without our Via; `undefined` until the application has given it. */
  readonly request: SipRequest | undefined;
  /** As it went out. */
  sent: { readonly flow: Flow; readonly text: string } | undefined;
  readonly limit: Timer | undefined;
}

/** A dialog, who owns it, and what is under way in it. */
export interface Dialog {
  /** The application's name for it. Early dialogs of one INVITE share theirs, which means the newest. */
  readonly id: string;
  readonly role: 'uac' | 'uas';
  readonly kind: string;
  readonly application: Application;
  readonly state: DialogState;
  confirmed: boolean;
  /** Where the peer is known to be, when that is not where its Contact says. */
  natFlow: Flow | undefined;
  /** Where its messages came from last. */
  lastFlow: Flow;
  /** Our 2xx that waits for its ACK. */
  unacknowledged2xx:
    | { sequence: number; transactionId: string; repeating: Retransmission; isFirst: boolean }
    | undefined;
  pendingAck: PendingAck | undefined;
  /** A reliable provisional answer whose PRACK the 2xx did not wait for. */
  lateRack: { readonly responseNumber: number; readonly sequence: number } | undefined;
  /** The peer's INVITE that waits for an answer of ours. */
  incomingInvite: IncomingRequest | undefined;
  /** Our own INVITE that waits for the peer's. */
  outgoingInvite: OutgoingRequest | undefined;
  /** The last session description that we sent, for refreshes. */
  localBody: { type: string; body: string } | undefined;
  peerAllowsUpdate: boolean;
  sessionTimer: (SessionTimer & { timer: Timer }) | undefined;
  /** A CANCEL of ours crossed the 2xx: the call ends with the ACK. */
  endAfterAck: boolean;
  /** The dialog's requests leave in the order in which they were given. */
  sending: Promise<void> | undefined;
}

/** Everything that the parts of the control layer share. */
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
  /** At once for address literals, else by DNS. */
  resolve(uri: SipUri): Target[] | Promise<Target[]>;
  readonly tcpUpgrade: TcpUpgrade;
  /** Whether applications see 100 Trying. */
  readonly showTrying: boolean;
  /** The server says goodbye: nothing new begins. */
  isShuttingDown: boolean;
  /** Whether a request is known to come from a scanner. */
  isScanner(request: SipRequest): boolean;
  announceCdr(event: CdrEvent): void;
}

export interface CdrEvent {
  readonly verb: 'cdr:attempt' | 'cdr:start' | 'cdr:stop';
  readonly source: 'network' | 'application';
  /** What the event's fourth field says; none for an attempt. */
  readonly detail?: string;
  readonly message: SipRequest | SipResponse;
}

/** All requests that wait for an application, found by whatever names them. */
export interface IncomingRequestTable {
  readonly size: number;
  add(incoming: IncomingRequest): void;
  remove(incoming: IncomingRequest): void;
  byId(id: string): IncomingRequest | undefined;
  byTransaction(transaction: ServerTransaction): IncomingRequest | undefined;
  /** Whether the same request already waits, having come by another way. */
  hasMerged(request: SipRequest): boolean;
  /** Whether one of them is to become the dialog of that name. */
  createsDialog(dialogId: string): boolean;
  ofApplication(application: Application): IncomingRequest[];
  all(): IncomingRequest[];
}

/** All requests of applications that wait for an answer. */
export interface OutgoingRequestTable {
  readonly size: number;
  add(sent: OutgoingRequest): void;
  remove(sent: OutgoingRequest): void;
  byId(id: string): OutgoingRequest | undefined;
  /** Whether one of them is to become the dialog of that name. */
  createsDialog(dialogId: string): boolean;
  all(): OutgoingRequest[];
}

/** All dialogs, found by the application's name for them and by what the wire calls them. */
export interface DialogTable {
  readonly size: number;
  /** Of several with the same name the one added last is meant by it; adding one again makes it so. */
  add(dialog: Dialog): void;
  remove(dialog: Dialog): void;
  has(dialog: Dialog): boolean;
  byId(id: string): Dialog | undefined;
  /** @see RFC 3261 section 12: both tags, for the two ends of one call may be ours. */
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
