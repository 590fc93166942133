/** Stable codes of malformed messages; also the names of the drop counters. */
export type SipParseCode =
  | 'start_line'
  | 'version'
  | 'too_large'
  | 'too_many_headers'
  | 'content_length'
  | 'incomplete'
  | 'uri'
  | 'header_value';

/**
 * A malformed SIP message or header.
 *
 * `status` is that of the response to such a request.
 */
export class SipParseError extends Error {
  readonly code: SipParseCode;
  readonly status: number;

  constructor(code: SipParseCode, message: string, status = 400) {
    super(message);
    this.name = 'SipParseError';
    this.code = code;
    this.status = status;
  }
}
