import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Phone, SDP } from '../sip/support/phone.ts';
import { sharedGateway, type TestProject } from '../support/gateway.ts';
import { reservePort } from '../support/ports.ts';

const SIP_PORT = await reservePort();
const gateway = sharedGateway({
  env: { ROLES: 'api,worker,voice,media', SIP_PORT: String(SIP_PORT), MEDIA_WORKERS: '1' },
});
let carrier: Phone;
let victim: TestProject;
let attacker: TestProject;
let calls = 0;
let numbers = 0;

beforeAll(async () => {
  carrier = await Phone.open();
  [victim, attacker] = [await gateway().createProject('Victim'), await gateway().createProject('Attacker')];
});
afterAll(() => carrier.close());

/** A number that no test has used. */
function newNumber(): string {
  numbers += 1;
  return `+886912345${String(numbers).padStart(3, '0')}`;
}

const create = (project: TestProject, what: 'trunks' | 'phone-numbers', body: object, key?: string) =>
  gateway().api('POST', `${project.path}/${what}`, { key: key ?? project.developerKey, body });
const operator = (method: string, path: string, body?: object) =>
  gateway().api(method, path, body === undefined ? {} : { body });
const trunkToCarrier = (more: object = {}) => ({
  name: 'Carrier',
  host: '127.0.0.1',
  port: carrier.port,
  optionsIntervalSeconds: 0,
  ...more,
});

/** The final response to a call, or 180, which ends it. */
async function ring(number: string, more: { to?: string } = {}): Promise<number> {
  calls += 1;
  const callId = `ownership-${calls}`;
  const uri = `sip:${number}@127.0.0.1:${SIP_PORT}`;
  const parts = { callId, branch: `z9hG4bK-${callId}`, uri, to: `<${uri}>`, ...more };
  carrier.send(carrier.request('INVITE', SIP_PORT, { ...parts, body: SDP }), SIP_PORT);
  const response = await carrier.next(new RegExp(`^SIP/2.0 (?!100).*^Call-ID: ${callId}\\r$`, 'ms'));
  const status = Number(response.split(' ')[1]);
  if (status < 200) carrier.send(carrier.request('CANCEL', SIP_PORT, parts), SIP_PORT);
  return status;
}

const callsOf = async (project: TestProject) =>
  (await gateway().api('GET', `${project.path}/calls?direction=inbound`, { key: project.developerKey })).body
    .data;

/** A number that takes calls over the victim's trunk. */
async function victimsNumber(more: object = {}): Promise<string> {
  const trunk = await create(victim, 'trunks', trunkToCarrier());
  const number = newNumber();
  const input = { number, trunkIds: [trunk.body.id], inboundEnabled: true, ...more };
  expect((await create(victim, 'phone-numbers', input, gateway().adminToken)).status).toBe(201);
  return number;
}

describe('A number of another project', () => {
  let number: string;
  beforeEach(async () => {
    number = await victimsNumber();
  });

  test('cannot be claimed, in any spelling, and its owner is not named', async () => {
    for (const spelling of [number, `0${number.slice(4)}`]) {
      const { status, body } = await create(attacker, 'phone-numbers', {
        number: spelling,
        inboundEnabled: true,
      });
      expect([status, body.code]).toEqual([409, 'number_taken']);
      expect(JSON.stringify(body)).not.toContain(victim.id);
    }
    const own = await create(attacker, 'phone-numbers', { number: newNumber() });
    const path = `${attacker.path}/phone-numbers/${own.body.id}`;
    const renamed = await gateway().api('PATCH', path, { key: attacker.developerKey, body: { number } });
    expect([renamed.status, renamed.body.code]).toEqual([409, 'number_taken']);
  });

  test('keeps its calls, whatever trunks of other projects at the same carrier say', async () => {
    for (const username of [number, number.slice(1), 'clinic']) {
      const greedy = trunkToCarrier({ username, register: true, fromDomain: '127.0.0.1', priority: 0 });
      expect((await create(attacker, 'trunks', greedy)).status).toBe(201);
    }
    const own = newNumber();
    await create(attacker, 'phone-numbers', { number: own, inboundEnabled: true }, gateway().adminToken);
    const before = (await callsOf(victim)).length;
    await vi.waitFor(async () => expect(await ring(number)).toBe(180));
    await vi.waitFor(async () => expect(await callsOf(victim)).toHaveLength(before + 1));
    // Two projects share the carrier: each gets the calls to its own number.
    expect(await ring(own)).toBe(180);
    expect(await ring(own, { to: `<sip:${number}@127.0.0.1>` })).toBe(180);
    await vi.waitFor(async () => expect((await callsOf(attacker)).length).toBeGreaterThan(1));
    const toOthers = (await callsOf(attacker)).filter(
      ({ toNumber }: { toNumber: string }) => toNumber !== own,
    );
    expect(toOthers).toEqual([]);
  });
});

describe('A claim', () => {
  test('is pending until the operator verifies it, and takes no calls before', async () => {
    const number = newNumber();
    await create(attacker, 'trunks', trunkToCarrier());
    const claim = await create(attacker, 'phone-numbers', { number, inboundEnabled: true });
    expect([claim.status, claim.body.verified]).toEqual([201, false]);
    await vi.waitFor(async () => expect(await ring(number)).toBe(404));
    const verified = await operator('PATCH', `/v1/numbers/${number}`, { verified: true });
    expect([verified.status, verified.body]).toMatchObject([
      200,
      { number, projectId: attacker.id, verified: true },
    ]);
    expect(await ring(number)).toBe(180);
    const list = await operator('GET', '/v1/numbers?limit=200');
    expect(list.body.data).toContainEqual(verified.body);
  });

  test('of a squatter goes to the project that the operator names', async () => {
    const number = newNumber();
    const media = { url: 'wss://bot.example.com/', dialect: 'callway' };
    expect((await create(attacker, 'phone-numbers', { number, inboundEnabled: true, media })).status).toBe(
      201,
    );
    expect((await create(victim, 'phone-numbers', { number })).status).toBe(409);
    const assigned = await operator('PATCH', `/v1/numbers/${number}`, { projectId: victim.id });
    expect(assigned.body).toMatchObject({ projectId: victim.id, verified: true });
    const read = (project: TestProject, id: string) =>
      gateway().api('GET', `${project.path}/phone-numbers/${id}`, { key: project.developerKey });
    const settings = { number, media: null, inboundEnabled: false, trunkIds: [] };
    expect((await read(victim, assigned.body.phoneNumberId)).body).toMatchObject(settings);
    const log = await operator('GET', `${attacker.path}/audit-log`);
    expect(log.body.data[0]).toMatchObject({ action: 'phone_number.assigned', details: { number } });
    expect((await operator('DELETE', `/v1/numbers/${number}`)).status).toBe(204);
    expect((await operator('PATCH', `/v1/numbers/${number}`, { verified: true })).status).toBe(404);
  });

  test('opens its country for calls once it is verified, where the project has another number', async () => {
    const project = await gateway().createProject();
    const [home, abroad] = [newNumber(), '+23721234567'];
    await create(project, 'trunks', trunkToCarrier());
    await create(project, 'phone-numbers', { number: home });
    await operator('PATCH', `/v1/numbers/${home}`, { verified: true });
    const order = { projectId: project.id, fromNumber: home, toNumber: '+23722123456' };
    const call = () =>
      gateway().api('POST', '/v1/calls/outbound', { key: project.developerKey, body: order });
    await create(project, 'phone-numbers', { number: abroad });
    expect((await call()).body.code).toBe('destination_not_allowed');
    await operator('PATCH', `/v1/numbers/${abroad}`, { verified: true });
    expect((await call()).status).toBe(202);
  });

  test('is for the operator only to decide', async () => {
    for (const [method, path] of [
      ['GET', '/v1/numbers'],
      ['PATCH', '/v1/numbers/+886912345678'],
      ['DELETE', '/v1/numbers/+886912345678'],
    ] as const) {
      const body = method === 'PATCH' ? { body: { verified: true } } : {};
      const { status } = await gateway().api(method, path, { key: attacker.developerKey, ...body });
      expect(status).toBe(401);
    }
  });
});

describe('The inboundCidrs of a tenant', () => {
  test('cannot overlap another project’s; the operator’s can, and stay when the tenant edits the trunk', async () => {
    const inboundCidrs = ['203.0.113.0/24'];
    expect((await create(victim, 'trunks', trunkToCarrier({ inboundCidrs }))).status).toBe(201);
    for (const network of ['203.0.113.7', '203.0.0.0/16', '::ffff:203.0.113.128/121']) {
      const refused = await create(attacker, 'trunks', trunkToCarrier({ inboundCidrs: [network] }));
      expect([refused.status, refused.body.code]).toEqual([403, 'cidr_needs_operator']);
      expect(JSON.stringify(refused.body)).not.toContain(victim.id);
    }
    const wide = trunkToCarrier({ inboundCidrs: ['0.0.0.0/0'] });
    const trunk = await create(attacker, 'trunks', wide, gateway().adminToken);
    expect(trunk.status).toBe(201);
    const edit = (body: object) =>
      gateway().api('PATCH', `${attacker.path}/trunks/${trunk.body.id}`, {
        key: attacker.developerKey,
        body,
      });
    expect((await edit({ name: 'Renamed', inboundCidrs: ['0.0.0.0/0'] })).status).toBe(200);
    expect((await edit({ inboundCidrs: ['0.0.0.0/0', '203.0.113.7'] })).status).toBe(403);
    expect((await operator('DELETE', `${attacker.path}/trunks/${trunk.body.id}`)).status).toBe(204);
  });
});
