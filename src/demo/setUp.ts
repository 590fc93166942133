import { z } from 'zod';

import { WEBHOOK_EVENT_NAMES } from '../webhooks/events.ts';
import { type Api, createApi } from './api.ts';
import type { Scenario } from './scenario.ts';

export interface SetUp {
  readonly baseUrl: string;
  readonly adminToken: string;
  readonly webhookUrl: string;
  /** As in the API. */
  readonly trunk: Readonly<Record<string, unknown>>;
  readonly fromNumber: string;
  readonly scenario: Scenario;
  readonly signal: AbortSignal;
}

/** A project that is ready to call. */
export interface DemoProject {
  readonly id: string;
  /** `/v1/projects/{id}`. */
  readonly path: string;
  /** With the project's API key. */
  readonly api: Api;
  /** Secret of the webhook signatures. */
  readonly secret: string;
}

const made = z.object({ id: z.string() });
const anything = z.unknown();

/** Sets up a project through the HTTP API, as a new user would: API key, agent, pathway, trunk and number. */
export async function setUpProject(options: SetUp): Promise<DemoProject> {
  const { baseUrl, adminToken, signal } = options;
  const operator = createApi(baseUrl, adminToken, signal);
  const { id } = await operator.request('POST', '/v1/projects', made, { name: 'Luna' });
  const path = `/v1/projects/${id}`;
  const { key } = await operator.request('POST', `${path}/api-keys`, z.object({ key: z.string() }), {
    name: 'Demo',
    kind: 'developer',
  });
  const { secret } = await operator.request(
    'GET',
    `${path}/webhook-secret`,
    z.object({ secret: z.string() }),
  );
  const api = createApi(baseUrl, key, signal);
  await api.request('PUT', `${path}/pathway`, anything, options.scenario.pathway);
  await api.request('PATCH', `${path}/agent`, anything, {
    name: 'Luna’s assistant',
    status: 'published',
    globalPrompt: 'You are the telephone assistant of the restaurant Luna. Be brief and friendly.',
    variableConfigs: options.scenario.variables,
    postSessionWebhook: { url: options.webhookUrl, events: WEBHOOK_EVENT_NAMES },
  });
  const trunk = await api.request('POST', `${path}/trunks`, made, { name: 'Carrier', ...options.trunk });
  await api.request('POST', `${path}/phone-numbers`, made, {
    number: options.fromNumber,
    trunkIds: [trunk.id],
  });
  return { id, path, api, secret };
}
