import { SipParseError } from '../errors.ts';
import { isToken, splitOutside, unquote } from '../grammar.ts';

/** The value of WWW-Authenticate, Authorization and their Proxy- variants. */
export interface AuthParams {
  /** The scheme in lower case, such as `digest`. */
  readonly scheme: string;
  /** The parameters by lower-case name; values have no quotes. */
  readonly params: ReadonlyMap<string, string>;
}

/**
 * @throws {SipParseError} When there is no scheme, or a parameter is not `name=value`.
 * @see RFC 3261 section 25.1, `credentials` and `challenge`
 */
export function parseAuth(value: string): AuthParams {
  const match = /^(\S+)\s+(.*)$/s.exec(value.trim());
  if (!match?.[1] || !isToken(match[1]))
    throw new SipParseError('header_value', 'credentials name no scheme');
  const params = new Map<string, string>();
  for (const piece of splitOutside(match[2] ?? '', ',')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const name = piece.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    if (!isToken(name)) throw new SipParseError('header_value', 'a credential is not name=value');
    params.set(name, unquote(piece.slice(equals + 1).trim()));
  }
  return { scheme: match[1].toLowerCase(), params };
}
