import { z } from 'zod';

const TIMEOUT_MILLISECONDS = 10_000;

const modelList = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

/** How an endpoint answered that lists its models as OpenAI does. */
export type EndpointAnswer =
  /** `models`: what it offers; `undefined` where it does not tell. */
  | { readonly kind: 'reached'; readonly models: readonly string[] | undefined }
  | { readonly kind: 'refused'; readonly status: number };

export interface ProbedEndpoint {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Where the key is not a bearer token. */
  readonly headers?: Record<string, string> | undefined;
}

/**
 * Asks an endpoint for its models, which costs nothing and needs the key.
 *
 * @throws {Error} When it cannot be reached.
 * @see https://platform.openai.com/docs/api-reference/models/list
 */
export async function probeEndpoint(
  endpoint: ProbedEndpoint,
  fetchImpl: typeof fetch,
): Promise<EndpointAnswer> {
  const response = await fetchImpl(`${endpoint.baseUrl}/models`, {
    headers: endpoint.headers ?? bearer(endpoint.apiKey),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  });
  if (response.status === 404) return { kind: 'reached', models: undefined };
  if (!response.ok) return { kind: 'refused', status: response.status };
  const parsed = modelList.safeParse(await response.json().catch(() => undefined));
  return { kind: 'reached', models: parsed.success ? parsed.data.data.map(({ id }) => id) : undefined };
}

function bearer(apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
