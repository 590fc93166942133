import type { ByteString } from './bytes.ts';
import type { SipHeaders } from './headers.ts';

export interface SipRequest {
  readonly kind: 'request';
  readonly method: string;
  /** The URI as written in the request line. */
  uri: string;
  readonly headers: SipHeaders;
  body: ByteString;
}

export interface SipResponse {
  readonly kind: 'response';
  /** The status, 100..699. */
  readonly status: number;
  readonly reason: string;
  readonly headers: SipHeaders;
  body: ByteString;
}

export type SipMessage = SipRequest | SipResponse;

/** The message as on the wire, with the correct Content-Length. */
export function formatMessage(message: SipMessage): ByteString {
  message.headers.set('content-length', String(message.body.length));
  const startLine =
    message.kind === 'request'
      ? `${message.method} ${message.uri} SIP/2.0`
      : `SIP/2.0 ${message.status} ${message.reason}`;
  return `${startLine}\r\n${message.headers.format()}\r\n${message.body}`;
}

/** A copy with its own headers. */
export function cloneRequest(request: SipRequest): SipRequest {
  return { ...request, headers: request.headers.clone() };
}

export function cloneResponse(response: SipResponse): SipResponse {
  return { ...response, headers: response.headers.clone() };
}
