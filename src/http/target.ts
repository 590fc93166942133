import { z } from 'zod';
import { type AddressClass, classifyHostname } from './address.ts';
import { HttpClientError } from './errors.ts';

/** Long enough for a URL with a token, short enough for a log line and an index. */
export const MAX_TARGET_URL_LENGTH = 2048;

/** Scheme and host, closed by the first `/`, `?` or `#`: a template cannot extend the host. */
const CLOSED_AUTHORITY = /^[a-z]+:\/\/[^/?#]+[/?#]/i;
const TEMPLATE = /\{\{.*?\}\}|\{%.*?%\}/g;
const TEMPLATE_MARK = /\{\{|\}\}|\{%|%\}/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop some of them silently, so they are refused
const HIDDEN_CHARACTER = /[\u0000-\u0020\u007f\\]/;
const HOST_NAME = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?$/;
const IPV6_LITERAL = /^\[[0-9a-f:.]+\]$/;

/** The policy for addresses that users configure. */
export interface TargetPolicy {
  /** Allows loopback addresses, also over plain http; for development. */
  readonly allowInsecureLoopback: boolean;
}

export interface TargetOptions {
  /** Allows Liquid templates in the path and the query; never in the host. */
  readonly allowTemplates?: boolean;
}

/**
 * Checks a URL before it is saved, without DNS. The addresses of its name are checked at every connection, since they
 * may change.
 *
 * @returns The problem, if any: `target_invalid_url`, `target_has_credentials`, `target_not_https` or
 *   `target_private_address`.
 */
export function checkTarget(
  text: string,
  policy: TargetPolicy,
  options: TargetOptions = {},
): HttpClientError | undefined {
  if (text.length > MAX_TARGET_URL_LENGTH) {
    return invalidUrl(`is ${text.length} characters long; at most ${MAX_TARGET_URL_LENGTH} are allowed`);
  }
  const misplaced = checkTemplates(text, options);
  if (misplaced) return misplaced;
  const filled = options.allowTemplates ? text.replace(TEMPLATE, 'x') : text;
  if (HIDDEN_CHARACTER.test(filled)) {
    return invalidUrl('contains a space, a backslash or a control character; percent-encode it');
  }
  if (!URL.canParse(filled)) return invalidUrl('is not an absolute URL such as https://example.com/hook');
  return checkParts(new URL(filled), policy);
}

/** A zod string with a target URL. Its issue has the error's code in `params.code`. */
export function targetUrlSchema(policy: TargetPolicy, options: TargetOptions = {}): z.ZodString {
  return z
    .string()
    .max(MAX_TARGET_URL_LENGTH, { abort: true })
    .superRefine((text, context) => {
      const error = checkTarget(text, policy, options);
      if (error) context.addIssue({ code: 'custom', message: error.message, params: { code: error.code } });
    })
    .meta({
      description: `An https URL without credentials whose host is public.${
        options.allowTemplates ? ' Path and query may hold {{ templates }}, the host may not.' : ''
      }`,
      examples: ['https://example.com/callway'],
    });
}

/**
 * Returns true when the policy allows an address of this class: loopback as the policy says, else public addresses over
 * https.
 */
export function mayReach(protocol: string, addressClass: AddressClass, policy: TargetPolicy): boolean {
  if (addressClass === 'loopback') return policy.allowInsecureLoopback;
  return addressClass === 'public' && protocol === 'https:';
}

function checkTemplates(text: string, { allowTemplates }: TargetOptions): HttpClientError | undefined {
  const at = text.search(TEMPLATE_MARK);
  if (at === -1) return undefined;
  if (!allowTemplates)
    return invalidUrl('contains a template mark such as {{; templates are not allowed here');
  if (!CLOSED_AUTHORITY.test(text.slice(0, at))) {
    return invalidUrl(
      'has a template in its host; templates are allowed only after the / that ends the host',
    );
  }
  if (TEMPLATE_MARK.test(text.replace(TEMPLATE, ''))) return invalidUrl('has an unclosed template');
  return undefined;
}

function checkParts(url: URL, policy: TargetPolicy): HttpClientError | undefined {
  if (url.username !== '' || url.password !== '') {
    return new HttpClientError(
      'target_has_credentials',
      'the URL contains a user name or a password; send them in a header instead',
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return notHttps(policy);
  if (!HOST_NAME.test(url.hostname) && !IPV6_LITERAL.test(url.hostname)) {
    return invalidUrl('has a host that is neither a name nor an IP address');
  }
  if (url.port === '0') return invalidUrl('has port 0; a port is 1 to 65535');
  const addressClass = classifyHostname(url.hostname);
  if (url.protocol === 'http:' && addressClass !== 'loopback') return notHttps(policy);
  if (addressClass === undefined || mayReach(url.protocol, addressClass, policy)) return undefined;
  if (url.protocol === 'http:') return notHttps(policy);
  return new HttpClientError(
    'target_private_address',
    `the URL's host is a ${addressClass} address; it must be publicly reachable`,
  );
}

function invalidUrl(what: string): HttpClientError {
  return new HttpClientError('target_invalid_url', `the URL ${what}`);
}

function notHttps({ allowInsecureLoopback }: TargetPolicy): HttpClientError {
  return new HttpClientError(
    'target_not_https',
    `the URL must begin with https://${allowInsecureLoopback ? '; plain http is allowed for loopback only' : ''}`,
  );
}

const SOCKET_SCHEME = /^ws(s?):\/\//i;

/**
 * Checks the URL of a WebSocket as {@link checkTarget} checks an HTTP URL: `wss` to public hosts, and `ws` to
 * loopback when the policy allows it.
 *
 * @returns The problem; undefined when there is none.
 */
export function checkSocketTarget(text: string, policy: TargetPolicy): HttpClientError | undefined {
  if (!SOCKET_SCHEME.test(text)) return notSecure(policy);
  const problem = checkTarget(text.replace(SOCKET_SCHEME, 'http$1://'), policy);
  return problem?.code === 'target_not_https' ? notSecure(policy) : problem;
}

const TCP_URL = /^tcp:\/\/(\[[0-9a-f:.]+\]|[^/:?#@[\]]+):\d{1,5}$/i;

/**
 * Checks a URL `tcp://host:port`, by the same rules. There is no TLS: the host is public, or loopback where the policy
 * allows it.
 *
 * @returns The problem; undefined when there is none.
 */
export function checkTcpTarget(text: string, policy: TargetPolicy): HttpClientError | undefined {
  if (!TCP_URL.test(text) || !URL.canParse(text.replace(/^tcp:/i, 'https:')))
    return new HttpClientError('target_invalid_url', 'the URL must be tcp://host:port');
  return checkTarget(guardedTcpUrl(text, policy).href, policy);
}

/** The URL for the checks that are the same for all protocols. */
export function guardedTcpUrl(text: string, policy: TargetPolicy): URL {
  const plain = text.replace(/^tcp:/i, 'http:');
  return new URL(checkTarget(plain, policy) === undefined ? plain : text.replace(/^tcp:/i, 'https:'));
}

function notSecure({ allowInsecureLoopback }: TargetPolicy): HttpClientError {
  return new HttpClientError(
    'target_not_https',
    `the URL must begin with wss://${allowInsecureLoopback ? '; plain ws is allowed for loopback only' : ''}`,
  );
}
