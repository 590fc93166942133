import { CallwayError, type ErrorCategory } from '../base/errors.ts';

/**
 * The category of each failure of a request to a user's URL, by its code. The codes are part of the API, in tool
 * results and delivery records.
 */
const CATEGORY_OF = {
  target_invalid_url: 'invalid',
  target_not_https: 'invalid',
  target_has_credentials: 'invalid',
  target_private_address: 'invalid',
  target_header_invalid: 'invalid',
  dns_failed: 'unavailable',
  connect_failed: 'unavailable',
  tls_failed: 'unavailable',
  connection_lost: 'unavailable',
  response_invalid: 'unavailable',
  response_too_large: 'unavailable',
  response_encoded: 'unavailable',
  timeout: 'timeout',
  aborted: 'unavailable',
} as const satisfies Record<string, ErrorCategory>;

export type HttpClientErrorCode = keyof typeof CATEGORY_OF;

/**
 * A request to a user's URL that was rejected or failed. The message names the host, never the path, the query or a
 * header, which may contain keys.
 */
export class HttpClientError extends CallwayError {
  declare readonly code: HttpClientErrorCode;

  constructor(code: HttpClientErrorCode, message: string, cause?: unknown) {
    super(CATEGORY_OF[code], code, message, cause === undefined ? {} : { cause });
    this.name = 'EgressError';
  }
}
