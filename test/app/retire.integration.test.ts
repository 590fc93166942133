import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { expect, test } from 'vitest';

import { sharedGateway } from '../support/gateway.ts';

const gateway = sharedGateway();

/** Sends requests on keep-alive connections until it is told to close them. */
async function askOn(pool: Pool): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (;;) {
    const { statusCode, headers, body } = await pool.request({ method: 'GET', path: '/healthz' });
    await body.dump();
    statuses.add(statusCode);
    if (headers.connection === 'close') return statuses;
    await sleep(5);
  }
}

test('Clients with keep-alive connections are told to close them and lose no request during a shutdown', async () => {
  const { url, retire, stop } = gateway();
  const pool = new Pool(url, { connections: 4 });
  try {
    const clients = Array.from({ length: 4 }, () => askOn(pool));
    await sleep(100);
    const going = retire();
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close']);
    expect(await ready.json()).toMatchObject({ status: 'draining' });
    await going;
    await stop();
    for (const statuses of await Promise.all(clients)) expect([...statuses]).toEqual([200]);
  } finally {
    await pool.destroy();
  }
});
