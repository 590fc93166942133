import createClient, { type Middleware } from 'openapi-fetch';

import { locale } from '../texts.ts';
import { withoutBidiControls } from './bidiControls.ts';
import type { ErrorBody } from './errorTextsZh.ts';
import type { paths } from './schema.d.ts';

/** The API of the service that serves this page, typed by its OpenAPI document. */
export type Api = ReturnType<typeof createApi>;

/** An error response, with the message that the API gives, in the browser's language where its text is known. */
export class ApiError extends Error {
  readonly status: number;
  /** For example `not_found`. */
  readonly code: string;
  /** What is wrong with which field of the request. */
  readonly details: NonNullable<ErrorBody['details']>;

  constructor(status: number, { message, code, details }: ErrorBody) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.details = details ?? [];
  }
}

interface ApiOptions {
  /** Where the operator works, on routes whose path names no project. */
  readonly projectId?: string | undefined;
  /** Resolves once the user is signed in again: a request that was refused for want of it is then repeated. */
  readonly renewSession?: () => Promise<void>;
}

export function createApi({ projectId, renewSession }: ApiOptions = {}) {
  const api = createClient<paths>({
    baseUrl: '/',
    headers: consoleHeaders(projectId),
    fetch: async (request) =>
      shown(await (renewSession ? fetchInSession(request, renewSession) : fetch(request))),
  });
  api.use(throwErrors);
  return api;
}

/** @param renewSession - Awaited where the user is not signed in any more; the request is then sent once more. */
export async function fetchInSession(request: Request, renewSession: () => Promise<void>): Promise<Response> {
  const repeated = request.clone();
  const response = await fetch(request);
  if (response.status !== 401) return response;
  await renewSession();
  return await fetch(repeated);
}

/** What others wrote stays in its place on the page; a form that was filled with it saves it so. */
async function shown(response: Response): Promise<Response> {
  if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
  return new Response(withoutBidiControls(await response.text()), response);
}

/** For requests that the typed client does not make, such as uploads with progress. */
export function consoleHeaders(projectId?: string): Record<string, string> {
  return { 'X-Callway-Console': '1', ...(projectId !== undefined && { 'X-Callway-Project': projectId }) };
}

/**
 * The body of a successful response.
 *
 * @throws {ApiError}
 */
export async function bodyOf<T>(response: Promise<{ data?: T }>): Promise<NonNullable<T>> {
  const { data } = await response;
  return data as NonNullable<T>;
}

const throwErrors: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await errorFrom(response);
  },
};

/** The error that a response tells: some routes have its fields in an object `error`. A proxy's pages have none of ours. */
export async function errorFrom(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const { error, ...rest } = (body ?? {}) as { error?: string | ErrorBody } & Omit<ErrorBody, 'message'>;
  const known = typeof error === 'string' ? { ...rest, message: error } : error;
  return new ApiError(
    response.status,
    await inLanguage(known ?? { code: 'unknown', message: `HTTP ${response.status}` }),
  );
}

/** The API's messages are English. The Chinese ones are loaded with the first error. */
async function inLanguage(error: ErrorBody): Promise<ErrorBody> {
  if (locale !== 'zh-TW') return error;
  // A service that is down sends no scripts either.
  const texts = await import('./errorTextsZh.ts').catch(() => undefined);
  return texts?.errorBodyZh(error) ?? error;
}
