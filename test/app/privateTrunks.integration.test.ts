import { hostname } from 'node:os';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Phone } from '../sip/support/phone.ts';
import { sharedGateway, type TestProject } from '../support/gateway.ts';

const gateway = sharedGateway({
  env: { ROLES: 'api,worker,voice,media', MEDIA_WORKERS: '1', ALLOW_PRIVATE_TRUNKS: 'false' },
});
let victim: Phone;
let project: TestProject;

beforeAll(async () => {
  victim = await Phone.open();
  project = await gateway().createProject();
});
afterAll(() => victim.close());

const create = (more: object, key = project.developerKey) =>
  gateway().api('POST', `${project.path}/trunks`, {
    key,
    body: { name: 't', host: '127.0.0.1', port: victim.port, optionsIntervalSeconds: 1, ...more },
  });
const healthOf = async (id: string) =>
  (await gateway().api('GET', `${project.path}/trunks/${id}`, { key: project.developerKey })).body.health;

test('A name that leads to a private address is never contacted, and looks like any other failure', async () => {
  const { status, body } = await create({ host: hostname() });
  expect(status).toBe(201);
  await vi.waitFor(async () => expect(await healthOf(body.id)).toMatchObject({ reachable: false }), {
    timeout: 15_000,
    interval: 200,
  });
  expect((await healthOf(body.id)).error).toBe('The trunk does not respond as it should; check its settings');
  expect(victim.received).toEqual([]);
});

test('The operator’s trunk may be private, until the tenant moves it', async () => {
  const { status, body } = await create({}, gateway().adminToken);
  expect(status).toBe(201);
  expect(await victim.next(/^OPTIONS /)).toContain('OPTIONS');
  const change = (patch: object) =>
    gateway().api('PATCH', `${project.path}/trunks/${body.id}`, { key: project.developerKey, body: patch });
  expect((await change({ name: 'Renamed' })).status).toBe(200);
  for (const patch of [{ port: victim.port + 1 }, { host: '127.0.0.2' }]) {
    expect((await change(patch)).status).toBe(403);
  }
});
