import { z } from 'zod';

import { CallwayError } from '../base/errors.ts';
import { ModelError } from '../models/ports/modelError.ts';
import type { ErrorStatus } from './schemas.ts';

/** Below it, requests and responses have the shapes of OpenAI's API, errors included. */
export const OPENAI_PREFIX = '/v1/projects/:projectId/openai/v1';
const OPENAI_PATH = /^\/v1\/projects\/[^/?]*\/openai\/v1(?:[/?]|$)/;

/** The body of every error response under {@link OPENAI_PREFIX}. */
const openAiErrorResponse = z
  .object({
    error: z.object({
      message: z.string().describe('What was wrong, and what would be right.'),
      type: z.string().meta({ example: 'invalid_request_error' }),
      code: z.string().nullable().describe('Stable, for programs.'),
      param: z
        .string()
        .nullable()
        .describe('The field of the request that is wrong, such as `messages[0].content`.'),
    }),
  })
  .meta({ id: 'OpenAiError' });

/** An error response. */
export interface ErrorBody {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const STATUSES: readonly ErrorStatus[] = [400, 401, 403, 404, 429, 500, 503];

/** The error responses of a route under {@link OPENAI_PREFIX}. */
export function openAiErrors(...more: readonly ErrorStatus[]) {
  return Object.fromEntries([...STATUSES, ...more].map((status) => [status, openAiErrorResponse])) as Record<
    ErrorStatus,
    typeof openAiErrorResponse
  >;
}

/** @param url - Path and query of a request. */
export function isOpenAiPath(url: string): boolean {
  return OPENAI_PATH.test(url);
}

/** Rewrites an error response in OpenAI's format. A failure of the model is 502, since another service has failed. */
export function toOpenAiError(error: unknown, plain: ErrorBody): ErrorBody {
  const isModelFailure = error instanceof ModelError;
  const status = isModelFailure ? 502 : plain.status;
  const { message, code } = plainFields(plain);
  return {
    status,
    headers: plain.headers,
    body: {
      error: {
        message,
        type: typeOf(status),
        code: isModelFailure ? 'model_failed' : code,
        param: paramOf(error),
      },
    },
  };
}

/** A 401 nests its fields, all others have them at the top. */
function plainFields({ body }: ErrorBody): { message: string; code: string | null } {
  const { error } = body;
  const nested = typeof error === 'object' && error !== null ? error : undefined;
  const fields: { message?: unknown; code?: unknown } = nested ?? { message: error, code: body.code };
  return {
    message: String(fields.message),
    code: typeof fields.code === 'string' ? fields.code : null,
  };
}

/** @see https://platform.openai.com/docs/guides/error-codes */
function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** The first wrong field: `/messages/0/content` as `messages[0].content`. */
function paramOf(error: unknown): string | null {
  const path = error instanceof CallwayError ? error.details?.[0]?.path : undefined;
  if (!path) return null;
  const [first = '', ...rest] = path.split('/').slice(1);
  return first + rest.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('');
}
