import type { SipRequest } from '../../../../sip/message/message.ts';
import type { LegEvents } from '../../../calls/telephony.ts';
import { ALLOW, isKeepAlive } from '../../control/control.ts';
import type { IncomingRequest } from '../../control/incoming.ts';
import type { Agreement } from '../../sdp/negotiate.ts';
import { warningOf } from '../../sdp/read.ts';
import type { SdpSession } from '../../sdp/session.ts';
import { numberOf, readAddress, readUri } from '../../sip/headerValues.ts';
import { q850CauseOf } from '../../sip/q850.ts';
import { descriptionOf, sessionBody, UNSUPPORTED_BODY } from '../../sip/sessionBody.ts';
import type { LegEvent } from '../legTransition.ts';
import { ACCEPTED_INFO, readInfoDigit } from './dtmf.ts';

export interface InDialogRequestsDeps {
  readonly sdp: () => SdpSession | undefined;
  readonly apply: (agreement: Agreement) => Promise<void>;
  readonly emit: <Name extends 'dtmf' | 'transferRequested'>(name: Name, value: LegEvents[Name]) => void;
  readonly dispatch: (event: LegEvent) => void;
  readonly isConfirmed: () => boolean;
  /** The ACK of the initial INVITE. */
  readonly onAcknowledged: (body: string) => void;
  /** Accepts a REFER and reports its progress to the peer. */
  readonly acceptReferral: (request: IncomingRequest) => Promise<void>;
  readonly onNotify: (request: IncomingRequest) => boolean;
  /** The peer changes or refreshes the session. */
  readonly onOffer: (request: SipRequest) => void;
  readonly onError: (error: unknown, what: string) => void;
}

const RETRY_AFTER = { headers: { 'Retry-After': '2' } };

/** Handles the peer's requests inside a dialog. */
export class InDialogRequests {
  readonly #deps: InDialogRequestsDeps;
  /** Offers and answers are applied one at a time, in order. */
  #queue = Promise.resolve();
  /** Our 200 to a re-INVITE carried an offer; its ACK carries the answer. */
  #isOfferPending = false;

  constructor(deps: InDialogRequestsDeps) {
    this.#deps = deps;
  }

  handle(request: IncomingRequest): void {
    if (request.message.method !== 'ACK') {
      this.#respond(request).catch((error: unknown) => {
        this.#report(error);
        // It may have been answered already, or the peer may be gone.
        return request.respond(500).catch(() => undefined);
      });
    } else if (this.#isOfferPending) {
      this.#isOfferPending = false;
      this.acceptAnswer(descriptionOf(request.message));
    } else this.#deps.onAcknowledged(descriptionOf(request.message));
  }

  /** Applies the answer to an offer of ours, after the peer's earlier offers. */
  acceptAnswer(body: string): void {
    const apply = async () => {
      const sdp = this.#deps.sdp();
      if (sdp && body !== '') await this.#deps.apply(await sdp.acceptAnswer(body));
    };
    this.#enqueue(apply).catch((error: unknown) => this.#report(error));
  }

  #respond(request: IncomingRequest): Promise<unknown> {
    switch (request.message.method) {
      case 'INVITE':
      case 'UPDATE':
        this.#deps.onOffer(request.message);
        return this.#enqueue(() => this.#changeSession(request));
      case 'BYE':
        return this.#onBye(request);
      case 'INFO':
        return this.#onInfo(request);
      case 'REFER':
        return this.#onRefer(request);
      case 'NOTIFY':
        return this.#onNotify(request);
      case 'OPTIONS':
        return request.respond(200, { headers: { Allow: ALLOW } });
      case 'PRACK':
        return request.respond(200);
      default:
        return request.respond(405, { headers: { Allow: ALLOW } });
    }
  }

  async #changeSession(request: IncomingRequest): Promise<unknown> {
    const { method } = request.message;
    const sdp = this.#deps.sdp();
    const body = sessionBody(request.message);
    const headers = { Allow: ALLOW };
    if (body.kind === 'unreadable') return await request.respond(UNSUPPORTED_BODY.status, UNSUPPORTED_BODY);
    if (body.kind === 'none' && method === 'UPDATE') return await request.respond(200, { headers });
    // Before the answer to the INVITE's offer another offer must wait. RFC 3311 section 5.2
    if (!sdp) return await request.respond(500, RETRY_AFTER);
    if (body.kind === 'none') {
      this.#isOfferPending = true;
      return await request.respond(200, { headers, body: sdp.offer() });
    }
    let answer: Awaited<ReturnType<SdpSession['answer']>>;
    try {
      answer = await sdp.answer(body.sdp);
    } catch (error) {
      return await request.respond(488, { headers: { Warning: warningOf(error) } });
    }
    await this.#deps.apply(answer);
    return await request.respond(200, { headers, body: answer.body });
  }

  async #onBye(request: IncomingRequest): Promise<unknown> {
    if (request.isFromServer) return this.#deps.dispatch({ kind: 'dialogLost' });
    this.#deps.dispatch({ kind: 'byeReceived', q850Cause: q850CauseOf(request.message) });
    return await request.respond(200);
  }

  async #onNotify(request: IncomingRequest): Promise<unknown> {
    const isPing = isKeepAlive(request.message) || !request.message.headers.has('event');
    if (isPing || this.#deps.onNotify(request)) return await request.respond(200);
    return await request.respond(489, { headers: { 'Allow-Events': 'refer' } });
  }

  async #onInfo(request: IncomingRequest): Promise<unknown> {
    const { headers, body } = request.message;
    // Without a body it asks whether the call is alive.
    if (body.trim() === '') return await request.respond(200);
    const digit = readInfoDigit(headers.get('content-type'), body);
    if (!digit) return await request.respond(415, { headers: { Accept: ACCEPTED_INFO } });
    this.#deps.emit('dtmf', digit);
    return await request.respond(200);
  }

  async #onRefer(request: IncomingRequest): Promise<unknown> {
    const target = readAddress(request.message.headers.get('refer-to') ?? '');
    const uri = target && readUri(target.uri);
    if (!target || !uri) return await request.respond(400, { reason: 'Bad Refer-To' });
    // An attended transfer names another call of the peer's (Replaces), which is not supported.
    if (uri.scheme !== 'tel' && uri.headers) return await request.respond(603);
    if (!this.#deps.isConfirmed()) return await request.respond(500, RETRY_AFTER);
    await this.#deps.acceptReferral(request);
    return this.#deps.emit('transferRequested', {
      to: numberOf(target.uri) ?? target.uri,
    });
  }

  #enqueue(work: () => Promise<unknown>): Promise<unknown> {
    const result = this.#queue.then(work);
    this.#queue = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  #report(error: unknown): void {
    this.#deps.onError(error, 'handling an in-dialog request failed');
  }
}
