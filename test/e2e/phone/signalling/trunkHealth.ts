import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Kamailio, startKamailio } from '../../../sip/support/kamailio.ts';
import { reservePort } from '../../../support/ports.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { type Line, SLOW } from '../support/line.ts';
import { installation } from './installation.ts';

const TIMEOUT = 90_000;
const DIGITS = '886900000123';

let carrier: Kamailio;
beforeAll(async () => {
  carrier = await startKamailio('carrier');
});
afterAll(() => carrier?.close());

const healthOf = async (line: Line) => (await line.api('GET', `/trunks/${line.trunkIds[0]}`)).body.health;

describe('a trunk', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('registers, and unregisters when it becomes inactive', async () => {
    const trunk = {
      port: carrier.port,
      password: 'secret',
      realm: 'carrier.test',
      optionsIntervalSeconds: 1,
    };
    const callee = await installation().makeLine({
      trunks: [{ ...trunk, register: true, username: DIGITS }],
      number: { number: `+${DIGITS}`, inboundEnabled: true },
    });
    await vi.waitFor(
      async () =>
        expect(await healthOf(callee)).toMatchObject({ reachable: true, registered: true, error: null }),
      SLOW,
    );
    expect((await healthOf(callee)).lastOptionsMs).toBeGreaterThanOrEqual(0);

    await callee.api('PATCH', `/trunks/${callee.trunkIds[0]}`, { status: 'inactive' });
    await vi.waitFor(async () => expect((await healthOf(callee)).registered).not.toBe(true), SLOW);
  });

  test('with a wrong password is not registered, and the project is told the response', async () => {
    const line = await installation().makeLine({
      trunks: [
        { port: carrier.port, register: true, username: 'bob', password: 'wrong', realm: 'carrier.test' },
      ],
    });
    await vi.waitFor(async () => {
      const { registered, error } = await healthOf(line);
      expect([registered, error]).toEqual([false, expect.stringMatching(/password.*: 40[137] /)]);
    }, SLOW);
  });

  test('whose host does not respond is not reachable', async () => {
    const line = await installation().makeLine({
      trunks: [{ port: await reservePort(), optionsIntervalSeconds: 1 }],
    });
    await vi.waitFor(async () => expect((await healthOf(line)).reachable).toBe(false), SLOW);
  });
});
