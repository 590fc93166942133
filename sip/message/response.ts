import { tagOf, withTag } from './fields/nameAddr.ts';
import { SipHeaders } from './headers.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { reasonPhrase } from './reasonPhrases.ts';

export interface ResponseParts {
  readonly reason?: string;
  /** Added to To when the request has none; a 100 needs none. */
  readonly toTag?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A response with the headers copied from the request: Via, From, To, Call-ID, CSeq, and Record-Route where it may
 * create a dialog.
 *
 * @see RFC 3261 section 8.2.6.2
 */
export function makeResponse(request: SipRequest, status: number, parts: ResponseParts = {}): SipResponse {
  const headers = new SipHeaders();
  for (const name of ['via', 'record-route', 'from', 'to', 'call-id', 'cseq']) {
    if (name === 'record-route' && !carriesRoute(request.method, status)) continue;
    for (const value of request.headers.all(name)) headers.add(name, value);
  }
  const to = headers.get('to') ?? '';
  if (parts.toTag !== undefined && tagOf(to) === undefined) headers.set('to', withTag(to, parts.toTag));
  for (const [name, value] of Object.entries(parts.headers ?? {})) headers.set(name, value);
  return { kind: 'response', status, reason: parts.reason ?? reasonPhrase(status), headers, body: '' };
}

function carriesRoute(method: string, status: number): boolean {
  return (
    status > 100 && status < 300 && (method === 'INVITE' || method === 'SUBSCRIBE' || method === 'REFER')
  );
}
