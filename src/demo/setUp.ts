import { z } from 'zod';

import { WEBHOOK_EVENT_NAMES } from '../webhooks/events.ts';
import { setUpAgent } from './agents/demoAgent.ts';
import { type Api, createApi } from './api.ts';
import type { Scenario } from './scenario.ts';

export interface SetUp {
  readonly baseUrl: string;
  readonly adminToken: string;
  readonly webhookUrl: string;
  /** The trunk, with the API's fields. */
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
  readonly key: string;
  /** The client that authenticates with `key`. */
  readonly api: Api;
  /** Secret of the webhook signatures. */
  readonly secret: string;
}

const made = z.object({ id: z.string() });

/** Creates a project with an API key, as an operator does. */
export async function createProject({
  baseUrl,
  adminToken,
  name,
  signal,
}: Pick<SetUp, 'baseUrl' | 'adminToken' | 'signal'> & { readonly name: string }): Promise<DemoProject> {
  const operator = createApi(baseUrl, adminToken, signal);
  const { id } = await operator.request('POST', '/v1/projects', made, { name });
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
  return { id, path, key, api: createApi(baseUrl, key, signal), secret };
}

/** Sets up a project through the HTTP API, as a new user would: API key, agent, pathway, trunk and number. */
export async function setUpProject(options: SetUp): Promise<DemoProject> {
  const { scenario, webhookUrl, fromNumber } = options;
  const project = await createProject({ ...options, name: 'Luna' });
  const { api, path } = project;
  const postSessionWebhook = { url: webhookUrl, events: WEBHOOK_EVENT_NAMES };
  await setUpAgent(api, path, { ...scenario.agent, agent: { ...scenario.agent.agent, postSessionWebhook } });
  const trunk = await api.request('POST', `${path}/trunks`, made, { name: 'Carrier', ...options.trunk });
  await api.request('POST', `${path}/phone-numbers`, z.unknown(), {
    number: fromNumber,
    trunkIds: [trunk.id],
  });
  return project;
}
