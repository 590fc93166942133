/** A vendor's WebSocket address, with the headers of the request. */
export interface WebSocketTarget {
  /** The address, `wss:` or `ws:`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly subprotocol?: string;
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

/**
 * The address of a WebSocket on a vendor's host. A list is a parameter for each entry.
 *
 * @param baseUrl - `https:` or `http:`.
 */
export function webSocketUrl(
  baseUrl: string,
  path: string,
  query: Readonly<Record<string, QueryValue>> = {},
): URL {
  const url = new URL(path, baseUrl);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const entry of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(entry));
  }
  return url;
}

/** The key as OAuth 2.0 and most vendors want it; nothing where there is none. */
export function bearer(apiKey: string | undefined): Pick<WebSocketTarget, 'headers'> {
  return apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } };
}
