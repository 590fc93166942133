import type { Clock } from '../../base/clock.ts';
import { createEmitter, type Emitter } from '../../base/emitter.ts';
import { type Backoff, backoffMs } from '../backoff.ts';
import { readSipText, type SipText } from '../sip/message.ts';
import { sessionBody } from '../sip/sessionBody.ts';
import { type ControlConnection, type ControlTarget, openConnection } from './connection.ts';
import { type IncomingRequest, readIncoming } from './incoming.ts';
import { type OutgoingRequest, type ResponseHandlers, type SentRequest, sendRequest } from './outgoing.ts';
import type { SrfRequest, SrfResponse } from './srf.ts';

/** A SIP server that carries out what we say, whether ours or a drachtio-server. */
export interface SipControl {
  readonly isConnected: boolean;
  readonly events: Pick<Emitter<ControlEvents>, 'on'>;
  /**
   * Sends a request. @throws {ControlDownError} While there is no connection, or when it breaks before the request is on
   * its way. @throws {RequestRefusedError} When the SIP server does not send it.
   */
  request(request: OutgoingRequest, handlers: ResponseHandlers): Promise<SentRequest>;
  /** Sends a request as soon as there is a connection, unless that takes too long; nobody hears how it went. */
  requestWhenConnected(request: OutgoingRequest): void;
  /** Takes the requests of one dialog, until the returned function is called. */
  onDialogRequest(dialogId: string, onRequest: (request: IncomingRequest) => void): () => void;
  /** Takes each INVITE that begins a call. */
  onInvite(handler: (invite: IncomingRequest) => void): void;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface ControlEvents {
  readonly connected: { readonly endpoints: readonly string[]; readonly version: string };
  readonly disconnected: { readonly reason: string };
  /** Each message that passes, in and out. */
  readonly message: ObservedMessage;
}

export interface ObservedMessage {
  readonly atMs: number;
  readonly direction: 'in' | 'out';
  readonly transport: string;
  /** `address:port` of the peer, '' where the server does not say. */
  readonly remote: string;
  readonly text: SipText;
}

export interface ControlOptions {
  /** Asked before each attempt; undefined while there is nothing to connect to. */
  readonly target: () => ControlTarget | undefined;
  /** Names this application at the server, which keeps its calls while it is away. At most 32 of `[a-zA-Z0-9-_]`. */
  readonly tag: string;
  readonly backoff?: Backoff;
  readonly clock: Clock;
  readonly random: () => number;
  /** A defect, or a listener that threw. */
  readonly onError: (error: unknown, what: string) => void;
}

const DEFAULT_BACKOFF: Backoff = { firstMs: 250, maxMs: 30_000 };
/** What ends a call is still worth saying for as long as the peer may hold it open. */
const LATER_MS = 60_000;
const MAX_LATER = 10_000;

/** Connects, and stays connected for ever. */
export function connectControl(options: ControlOptions): SipControl {
  const { clock, onError } = options;
  const events = createEmitter<ControlEvents>((error, name) => onError(error, `a listener to ${name} threw`));
  const dialogs = new Map<string, (request: IncomingRequest) => void>();
  let later: { readonly request: OutgoingRequest; readonly untilMs: number }[] = [];
  let takeCall: ((invite: IncomingRequest) => void) | undefined;
  let session: ControlConnection | undefined;
  let isClosed = false;
  let failures = 0;
  let stopWaiting: () => void = () => undefined;

  const see = (direction: 'in' | 'out', raw: string, transport: string, remote: string) =>
    events.emit('message', { atMs: clock.now(), direction, transport, remote, text: readSipText(raw) });

  const read = (request: SrfRequest, response: SrfResponse) =>
    readIncoming(request, response, { observe: see, onUpdate });
  const onRequest = (request: SrfRequest, response: SrfResponse) => {
    const incoming = read(request, response);
    const owner = dialogs.get(incoming.dialogId);
    if (owner) owner(incoming);
    else if (incoming.method === 'INVITE' && incoming.isNew && takeCall) takeCall(incoming);
    else answerWith(answerUnowned, incoming);
  };
  /** One that comes while an INVITE of its call is not answered. */
  const onUpdate = (request: SrfRequest, response: SrfResponse) => {
    const incoming = read(request, response);
    const owner = dialogs.get(incoming.dialogId);
    if (owner) owner(incoming);
    else answerWith(answerEarlyUpdate, incoming);
  };
  const answerWith = (answer: (request: IncomingRequest) => Promise<void>, incoming: IncomingRequest) => {
    answer(incoming).catch((error: unknown) => onError(error, 'a request was not answered'));
  };

  const send = (request: OutgoingRequest, handlers: ResponseHandlers) =>
    sendRequest(session, request, handlers, { observe: see, onUpdate });

  const sendLater = () => {
    const due = later.filter(({ untilMs }) => untilMs > clock.monotonicMs());
    later = [];
    const deaf = { onResponse: () => undefined, onConnectionLost: () => undefined };
    for (const { request } of due) {
      // The call may be over at the server too; then there is nothing to say any more.
      send(request, deaf).catch(() => undefined);
    }
  };

  const run = async () => {
    while (!isClosed) {
      const reason = await stayConnected();
      if (isClosed) return;
      failures += 1;
      if (failures === 1) events.emit('disconnected', { reason });
      const delayMs = backoffMs(options.backoff ?? DEFAULT_BACKOFF, failures, options.random());
      await new Promise<void>((resolve) => {
        const timer = clock.setTimer(resolve, delayMs);
        stopWaiting = () => {
          timer.cancel();
          resolve();
        };
      });
    }
  };

  const stayConnected = async (): Promise<string> => {
    const target = options.target();
    if (!target) return 'there is no SIP server yet';
    try {
      const opened = await openConnection(
        target,
        options.tag,
        { onRequest, onError: (error) => onError(error, 'a message of the SIP server') },
        clock,
      );
      if (isClosed) opened.close();
      session = opened;
      failures = 0;
      events.emit('connected', opened);
      sendLater();
      return await opened.gone;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      session = undefined;
    }
  };

  const running = run();
  return {
    get isConnected() {
      return session !== undefined;
    },
    events,
    request: send,
    requestWhenConnected(request) {
      if (later.length < MAX_LATER) later.push({ request, untilMs: clock.monotonicMs() + LATER_MS });
      if (session) sendLater();
    },
    onDialogRequest(dialogId, handler) {
      dialogs.set(dialogId, handler);
      return () => {
        if (dialogs.get(dialogId) === handler) dialogs.delete(dialogId);
      };
    },
    onInvite(handler) {
      takeCall = handler;
    },
    async close() {
      isClosed = true;
      session?.close();
      stopWaiting();
      await running;
    },
  };
}

/** Methods that we take, as OPTIONS tells. */
export const ALLOW = 'INVITE, ACK, BYE, CANCEL, OPTIONS, PRACK, UPDATE, INFO, REFER, NOTIFY';

async function answerUnowned(request: IncomingRequest): Promise<void> {
  if (request.method === 'ACK' || request.isFromServer) return;
  if (request.method === 'PRACK') await request.respond(200);
  else if (!request.isNew) await request.respond(481);
  else if (request.method === 'OPTIONS')
    await request.respond(200, { headers: { Allow: ALLOW, Accept: 'application/sdp', Supported: 'timer' } });
  else if (request.method === 'INVITE') await request.respond(503, { headers: { 'Retry-After': '5' } });
  else if (ONLY_IN_CALLS.has(request.method)) await request.respond(481);
  else await request.respond(405, { headers: { Allow: ALLOW } });
}

/** What we take, but belongs to a call (or, in a NOTIFY, to a subscription) that there is not. */
const ONLY_IN_CALLS = new Set(['INFO', 'NOTIFY', 'REFER']);

/** A call that rings here has made no offer and no answer yet, so that another offer must wait. @see RFC 3311 section 5.2 */
async function answerEarlyUpdate(request: IncomingRequest): Promise<void> {
  if (sessionBody(request.text).kind === 'none') await request.respond(200, { headers: { Allow: ALLOW } });
  else await request.respond(500, { headers: { 'Retry-After': '2' } });
}
