/** Stable names of what can be wrong with a message; also the keys of the server's drop counters. */
export type SipParseCode =
  | 'start_line'
  | 'version'
  | 'header_line'
  | 'too_large'
  | 'too_many_headers'
  | 'content_length'
  | 'incomplete'
  | 'uri'
  | 'header_value';

/**
 * Bytes that are not a SIP message, or a header that does not follow its grammar.
 *
 * `status` is what a request of that kind is answered with, if an answer can be addressed at all.
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
