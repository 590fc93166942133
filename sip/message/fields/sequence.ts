import { SipParseError } from '../errors.ts';
import { isToken, parseInteger } from '../grammar.ts';

export interface CSeq {
  readonly sequence: number;
  readonly method: string;
}

/** The reliable provisional response that a PRACK acknowledges. @see RFC 3262 section 7.2 */
export interface RAck extends CSeq {
  readonly responseNumber: number;
}

/** CSeq must be below 2^31. @see RFC 3261 section 8.1.1.5 */
const MAX_CSEQ = 2 ** 31 - 1;
const MAX_RSEQ = 2 ** 32 - 1;

/** @throws {SipParseError} */
export function parseCSeq(text: string): CSeq {
  const [sequence = '', method = '', ...rest] = text.trim().split(/\s+/);
  if (!isToken(method) || rest.length > 0) throw new SipParseError('header_value', 'CSeq is malformed');
  return { sequence: parseInteger(sequence, 'CSeq', MAX_CSEQ), method };
}

/** Ignores what follows the method, as drachtio-server does. @throws {SipParseError} */
export function parseRAck(text: string): RAck {
  const match = /^(\d+)\s+(\d+\s+\S+)(?:\s|$)/.exec(text.trim());
  if (!match?.[1] || !match[2]) throw new SipParseError('header_value', 'RAck is malformed');
  return { responseNumber: parseInteger(match[1], 'RAck', MAX_RSEQ), ...parseCSeq(match[2]) };
}

/** @throws {SipParseError} */
export function parseRSeq(text: string): number {
  return parseInteger(text, 'RSeq', MAX_RSEQ);
}
