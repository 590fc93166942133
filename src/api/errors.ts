import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { CallwayError, type ErrorCategory, isUnavailable } from '../base/errors.ts';
import { type ErrorBody, isOpenAiPath, toOpenAiError } from './openAiErrors.ts';

const STATUS: Record<ErrorCategory, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  unprocessable: 422,
  too_large: 413,
  unsupported: 415,
  rate_limited: 429,
  timeout: 408,
  unavailable: 503,
  internal: 500,
};

/** Errors of Fastify itself, in the API's terms. @see https://fastify.dev/docs/latest/Reference/Errors/ */
const FASTIFY_ERRORS: Record<string, { status: number; code: string; message: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    code: 'body_too_large',
    message: 'The request body is too large',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    code: 'unsupported_media_type',
    message: 'The request body needs the header Content-Type: application/json',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    status: 400,
    code: 'invalid_content_length',
    message: 'The length of the request body differs from its Content-Length',
  },
  FST_ERR_BAD_URL: { status: 400, code: 'invalid_url', message: 'The path has a broken percent-encoding' },
  FST_ERR_MAX_PARAM_LENGTH: { status: 404, code: 'not_found', message: 'Not found' },
};

/** Converts an error to the format of the requested path; an unexpected error becomes a 500 without internal details. */
export function errorBody(error: unknown, { url }: FastifyRequest): ErrorBody {
  const plain = plainErrorBody(error);
  return isOpenAiPath(url) ? toOpenAiError(error, plain) : plain;
}

function plainErrorBody(error: unknown): ErrorBody {
  if (error instanceof CallwayError) return callwayErrorBody(error);
  const known = FASTIFY_ERRORS[codeOf(error)];
  if (known) return { status: known.status, headers: {}, body: { error: known.message, code: known.code } };
  const status = (error as Partial<FastifyError> | undefined)?.statusCode ?? 500;
  if (status >= 400 && status < 500) {
    return { status, headers: {}, body: { error: 'The request cannot be read', code: 'invalid_request' } };
  }
  return { status: 500, headers: {}, body: { error: 'Internal server error', code: 'internal_error' } };
}

/** Sends an error response, and logs what only the operator may see. */
export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = errorBody(error, request);
  if (isUnavailable(error))
    request.log.warn({ requestId: request.id, err: error }, 'request refused: dependency unavailable');
  else if (status >= 500) request.log.error({ requestId: request.id, err: error }, 'request failed');
  // Fastify would close the connection after a refused body, and a client that is still sending would often lose the
  // response. Without the header, Node reads and discards the rest until the body timeout.
  if (codeOf(error) in FASTIFY_ERRORS) reply.removeHeader('connection');
  return reply
    .code(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(body);
}

function callwayErrorBody(error: CallwayError): ErrorBody {
  const status = STATUS[error.category];
  const headers: Record<string, string> = {};
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  if (status === 401) {
    headers['www-authenticate'] = 'Bearer realm="callway"';
    return { status, headers, body: { error: { message: error.message, code: error.code } } };
  }
  const details = error.details ? { details: error.details } : {};
  return { status, headers, body: { error: error.message, code: error.code, ...details, ...error.extra } };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
