import type { Target } from './client.ts';
import { ADMIN_TOKEN } from './product.ts';

/** A project of the product, made for a measurement. */
/** A new project's limits are below a bench's load. */
const UNLIMITED = { maxConcurrentCalls: null, maxCallsPerMinute: null };

export interface BenchProject extends Target {
  readonly id: string;
  readonly key: string;
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** @param pathway - Its graph, in the API's format. */
export async function createProject(
  url: string,
  agentConfig: object,
  pathway: object,
): Promise<BenchProject> {
  const made = (await api(url, ADMIN_TOKEN, 'POST', '/v1/projects', {
    name: 'Bench',
    callLimits: UNLIMITED,
  })) as { id: string };
  const path = `/v1/projects/${made.id}`;
  const { key } = (await api(url, ADMIN_TOKEN, 'POST', `${path}/api-keys`, {
    name: 'bench',
    kind: 'developer',
  })) as { key: string };
  const call = (method: string, at: string, body?: unknown) => api(url, key, method, path + at, body);
  await call('PATCH', '/agent', agentConfig);
  await call('PUT', '/pathway', pathway);
  return { id: made.id, baseUrl: url + path, headers: { authorization: `Bearer ${key}` }, key, call };
}

/** One node without an end, so that a turn is one model request. */
export const ONE_STEP = {
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Answer the person.' } }],
  edges: [],
};

async function api(url: string, key: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
