import { parseCarrierNumber } from '../../../calls/numbers/number.ts';
import type { LegEvents } from '../../../calls/telephony.ts';
import { ALLOW } from '../../control/control.ts';
import type { IncomingRequest } from '../../control/incoming.ts';
import type { Agreement } from '../../sdp/negotiate.ts';
import type { SdpSession } from '../../sdp/session.ts';
import { readNameAddress, readUri } from '../../sip/address.ts';
import { readQ850 } from '../../sip/q850.ts';
import { descriptionOf, sessionBody } from '../../sip/sessionBody.ts';
import type { LegEvent } from '../legTransition.ts';
import { UNREADABLE } from '../refuseInvite.ts';
import { readInfoDigit } from './infoDigits.ts';

/** Answers what a peer asks inside a call. */
export interface InDialogRequests {
  take(request: IncomingRequest): void;
  /** Takes the answer to an offer of ours, after what the peer offered before. */
  acceptAnswer(body: string): void;
}

export interface InDialogRequestsDeps {
  readonly sdp: () => SdpSession | undefined;
  readonly apply: (agreement: Agreement) => Promise<void>;
  readonly announce: <Name extends 'dtmf' | 'transferRequested'>(name: Name, value: LegEvents[Name]) => void;
  readonly dispatch: (event: LegEvent) => void;
  readonly isUp: () => boolean;
  /** Of the INVITE that began the call. */
  readonly onAcknowledged: (body: string) => void;
  /** Answers a REFER that we mean to follow, and tells how it goes. */
  readonly acceptReferral: (request: IncomingRequest) => Promise<void>;
  readonly onNotify: (request: IncomingRequest) => boolean;
  /** The peer changes or refreshes the session. */
  readonly onOffer: () => void;
  readonly onError: (error: unknown, what: string) => void;
}

const RETRY_SECONDS = '2';

export function createInDialogRequests(deps: InDialogRequestsDeps): InDialogRequests {
  const { announce, dispatch } = deps;
  /** Offers are taken one at a time, in the order in which they come. */
  let offers = Promise.resolve();
  let isOfferOpen = false;

  const changeSession = async (request: IncomingRequest): Promise<void> => {
    const sdp = deps.sdp();
    if (!sdp) return void (await request.respond(500, { headers: { 'Retry-After': RETRY_SECONDS } }));
    const body = sessionBody(request.text);
    if (body.kind === 'unreadable') return void (await request.respond(UNREADABLE.status, UNREADABLE));
    if (body.kind === 'none') {
      isOfferOpen = request.method === 'INVITE';
      const headers = { Allow: ALLOW };
      await request.respond(200, isOfferOpen ? { headers, body: sdp.offer() } : { headers });
      return;
    }
    let answer: ReturnType<SdpSession['answer']>;
    try {
      answer = sdp.answer(body.sdp);
    } catch (error) {
      await request.respond(488, { headers: { Warning: warningOf(error) } });
      return;
    }
    await deps.apply(answer);
    await request.respond(200, { headers: { Allow: ALLOW }, body: answer.body });
  };
  const takeAnswer = async (body: string): Promise<void> => {
    const sdp = deps.sdp();
    if (sdp && body !== '') await deps.apply(sdp.acceptAnswer(body));
  };

  const answerInfo = async (request: IncomingRequest) => {
    const type = request.text.header('content-type');
    if (type === undefined) return await request.respond(200);
    const digit = readInfoDigit(type, request.text.body);
    if (!digit) {
      return await request.respond(415, { headers: { Accept: 'application/dtmf-relay, application/dtmf' } });
    }
    announce('dtmf', digit);
    return await request.respond(200);
  };
  const answerRefer = async (request: IncomingRequest): Promise<unknown> => {
    const target = readNameAddress(request.text.header('refer-to') ?? '');
    const uri = target && readUri(target.uri);
    if (!target || !uri) return await request.respond(400, { reason: 'Bad Refer-To' });
    // A transfer into another call of the peer's is not for us to join.
    if (uri.headers !== '') return await request.respond(603);
    if (!deps.isUp()) return await request.respond(500, { headers: { 'Retry-After': RETRY_SECONDS } });
    await deps.acceptReferral(request);
    return announce('transferRequested', { to: parseCarrierNumber(uri.user) ?? target.uri });
  };
  const leave = async (request: IncomingRequest) => {
    if (request.isFromServer) return dispatch({ kind: 'lost' });
    dispatch({ kind: 'peerLeft', q850Cause: readQ850(request.text.headers('reason')) });
    return void (await request.respond(200));
  };

  const answer = (request: IncomingRequest): Promise<unknown> => {
    switch (request.method) {
      case 'INVITE':
      case 'UPDATE':
        deps.onOffer();
        return inTurn(() => changeSession(request));
      case 'BYE':
        return leave(request);
      case 'INFO':
        return answerInfo(request);
      case 'REFER':
        return answerRefer(request);
      case 'NOTIFY':
        return request.respond(deps.onNotify(request) ? 200 : 489);
      case 'OPTIONS':
        return request.respond(200, { headers: { Allow: ALLOW } });
      case 'PRACK':
        return request.respond(200);
      default:
        return request.respond(405, { headers: { Allow: ALLOW } });
    }
  };
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const turn = offers.then(work);
    offers = turn.catch(() => undefined);
    return turn;
  };
  const report = (error: unknown) => deps.onError(error, 'a request inside a call could not be answered');
  const acceptAnswer = (body: string) => void inTurn(() => takeAnswer(body)).catch(report);

  return {
    take(request) {
      if (request.method !== 'ACK') {
        answer(request).catch((error: unknown) => {
          report(error);
          // An answer that went out already, or a peer that is gone, needs none.
          return request.respond(500).catch(() => undefined);
        });
      } else if (isOfferOpen) {
        isOfferOpen = false;
        acceptAnswer(descriptionOf(request.text));
      } else deps.onAcknowledged(descriptionOf(request.text));
    },
    acceptAnswer,
  };
}

/** @see RFC 3261 section 20.43: 305 is an incompatible media format, 399 any other. */
function warningOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `399 callway "${text.replace(/["\\\r\n]/g, "'")}"`;
}
