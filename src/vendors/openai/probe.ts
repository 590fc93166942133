import { z } from 'zod';

const TIMEOUT_MILLISECONDS = 10_000;

const modelList = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

/** The answer of an endpoint to OpenAI's request for its models. */
export type EndpointAnswer =
  /** `models`: what it offers; `undefined` when it does not tell. */
  | { readonly kind: 'reached'; readonly models: readonly string[] | undefined }
  | { readonly kind: 'refused'; readonly status: number };

export interface ProbedEndpoint {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** The models to request by name when the list lacks them. The list may have pages, and contains no aliases. */
  readonly wanted?: readonly string[];
  /** Headers in place of a bearer token; undefined when the key is one. */
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
  const get = (path: string) =>
    fetchImpl(`${endpoint.baseUrl}/models${path}`, {
      headers: endpoint.headers ?? bearer(endpoint.apiKey),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
  const response = await get('');
  if (response.status === 404) return { kind: 'reached', models: undefined };
  if (!response.ok) return { kind: 'refused', status: response.status };
  const parsed = modelList.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) return { kind: 'reached', models: undefined };
  const models = parsed.data.data.map(({ id }) => id);
  for (const model of endpoint.wanted ?? [])
    if (!isListed(models, model) && (await get(`/${encodeURIComponent(model)}`)).ok) models.push(model);
  return { kind: 'reached', models };
}

/** Google lists its models by their paths. */
export function isListed(models: readonly string[], model: string): boolean {
  return models.some((one) => one === model || one === `models/${model}`);
}

function bearer(apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
