import { SipParseError } from './errors.ts';
import { parseNameAddr, splitNameAddr } from './fields/nameAddr.ts';
import { parseCSeq } from './fields/sequence.ts';
import { parseUri } from './fields/uri.ts';
import { parseVia } from './fields/via.ts';
import type { SipMessage, SipRequest, SipResponse } from './message.ts';

/** The response that rejects a request. */
export interface Rejection {
  readonly status: number;
  readonly reason: string;
}

/** The headers that may occur once. */
const SINGLE = ['from', 'to', 'call-id', 'cseq', 'max-forwards', 'content-type'] as const;
const REQUIRED = ['via', 'from', 'to', 'call-id', 'cseq'] as const;
const MAX_FORWARDS = 255;

/**
 * Checks the headers that every request needs.
 *
 * @returns Undefined for a valid request.
 * @see RFC 3261 sections 8.1.1 and 8.2; RFC 4475
 */
export function validateRequest(request: SipRequest): Rejection | undefined {
  try {
    checkCommon(request);
    checkRequestUri(request);
    if (parseCSeq(request.headers.get('cseq') ?? '').method !== request.method) {
      return { status: 400, reason: 'CSeq Method Does Not Match' };
    }
    return checkLists(request);
  } catch (error) {
    if (error instanceof SipParseError)
      return { status: error.status, reason: `Bad Request - ${error.message}` };
    throw error;
  }
}

/** @returns The reason for which the response is invalid; undefined for a valid one. */
export function validateResponse(response: SipResponse): string | undefined {
  try {
    checkCommon(response);
    parseCSeq(response.headers.get('cseq') ?? '');
    return undefined;
  } catch (error) {
    if (error instanceof SipParseError) return error.message;
    throw error;
  }
}

function checkCommon(message: SipMessage): void {
  const { headers } = message;
  for (const name of REQUIRED) {
    if (!headers.has(name)) throw new SipParseError('header_value', `${name} is missing`);
  }
  for (const name of SINGLE) {
    if (headers.count(name) > 1) throw new SipParseError('header_value', `${name} is there more than once`);
  }
  const vias = headers.list('via');
  if (vias.length === 0) throw new SipParseError('header_value', 'via is empty');
  for (const via of vias) parseVia(via);
  // Only their tags matter here.
  for (const name of ['from', 'to']) splitNameAddr(headers.get(name) ?? '');
  if (headers.get('call-id') === '') throw new SipParseError('header_value', 'call-id is empty');
}

function checkRequestUri(request: SipRequest): void {
  if (request.uri.startsWith('<')) throw new SipParseError('uri', 'the Request-URI stands in brackets');
  const uri = parseUri(request.uri);
  if (uri.scheme === 'other') throw new SipParseError('uri', 'unsupported URI scheme', 416);
  if (uri.scheme !== 'tel' && uri.headers !== undefined) {
    throw new SipParseError('uri', 'the Request-URI carries headers');
  }
}

function checkLists(request: SipRequest): Rejection | undefined {
  const { headers } = request;
  for (const name of ['contact', 'route', 'record-route']) {
    for (const value of headers.addresses(name)) if (value !== '*') parseNameAddr(value);
  }
  const hops = headers.get('max-forwards')?.trim() ?? '0';
  const isNumber = /^\d{1,10}$/.test(hops) && Number(hops) <= MAX_FORWARDS;
  return isNumber ? undefined : { status: 400, reason: 'Bad Max-Forwards' };
}
