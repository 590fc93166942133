import { SipParseError } from '../errors.ts';
import { isToken, parseParams, quote, unquote } from '../grammar.ts';

/** A Reason header. @see RFC 3326 */
export interface Reason {
  /** `SIP`, `Q.850`, … */
  readonly protocol: string;
  readonly cause: number | undefined;
  readonly text: string | undefined;
}

/** @throws {SipParseError} */
export function parseReason(value: string): Reason {
  const semicolon = value.indexOf(';');
  const protocol = (semicolon < 0 ? value : value.slice(0, semicolon)).trim();
  if (!isToken(protocol)) throw new SipParseError('header_value', 'Reason names no protocol');
  const params = parseParams(semicolon < 0 ? '' : value.slice(semicolon));
  const cause = params.get('cause');
  const text = params.get('text');
  return {
    protocol,
    cause: cause !== undefined && /^\d{1,3}$/.test(cause) ? Number(cause) : undefined,
    text: text === undefined ? undefined : unquote(text),
  };
}

export function formatReason(reason: Reason): string {
  const cause = reason.cause === undefined ? '' : `;cause=${reason.cause}`;
  return `${reason.protocol}${cause}${reason.text === undefined ? '' : `;text=${quote(reason.text.replace(/[\r\n]+/g, ' '))}`}`;
}
