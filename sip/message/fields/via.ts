import { SipParseError } from '../errors.ts';
import { formatParams, type Params, parseParams } from '../grammar.ts';
import { parseHostPort } from './uri.ts';

/** A hop of a request. @see RFC 3261 section 20.42 */
export interface Via {
  /** Upper-case: UDP, TCP, TLS, or another token. */
  readonly transport: string;
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
}

const VIA = /^SIP\s*\/\s*2\.0\s*\/\s*([A-Za-z0-9\-.!%*_+`'~]+)\s+([^;\s]+(?:\s*:\s*\d+)?)\s*(.*)$/is;
/** Prefix of a branch that conforms to RFC 3261. @see RFC 3261 section 8.1.1.7 */
export const BRANCH_COOKIE = 'z9hG4bK';

/** @throws {SipParseError} */
export function parseVia(text: string): Via {
  const match = VIA.exec(text);
  if (!match) throw new SipParseError('header_value', 'a Via is malformed');
  const [, transport = '', sentBy = '', rest = ''] = match;
  return { transport: transport.toUpperCase(), ...parseHostPort(sentBy), params: parseParams(rest.trim()) };
}

export function formatVia(via: Via): string {
  const port = via.port === undefined ? '' : `:${via.port}`;
  return `SIP/2.0/${via.transport} ${via.host}${port}${formatParams(via.params)}`;
}
