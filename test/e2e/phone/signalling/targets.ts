import type { ServerResponse } from 'node:http';
import { describe, expect, type TestContext, test, vi } from 'vitest';

import { serveOnLoopback } from '../../../support/loopbackServer.ts';
import { newNumber, SLOW } from '../support/line.ts';
import { ALL_EVENTS } from '../support/webhooks.ts';
import { carrier, installation } from './installation.ts';

const TIMEOUT = 120_000;

interface Delivery {
  readonly event: string;
  readonly status: number | null;
}

/** A faulty webhook receiver, and what it received. */
async function startTarget(
  onTestFinished: TestContext['onTestFinished'],
  answer: (response: ServerResponse) => unknown,
) {
  const told: string[] = [];
  const server = await serveOnLoopback(async (request, response) => {
    told.push(JSON.parse((await request.toArray()).join('')).event);
    answer(response);
  });
  onTestFinished(() => server.close());
  return { url: `http://127.0.0.1:${server.port}/hook`, told };
}

describe('a call whose webhook receiver', { timeout: TIMEOUT }, () => {
  test.concurrent.for([
    ['answers 500', { status: 500 }],
    ['sends elsewhere', { status: 302 }],
    ['breaks the connection', { status: null }],
  ] as const)('%s ends as usual and sends each event once, in order', async (...[row, context]) => {
    const [what, seen] = row;
    const { onTestFinished } = context;
    const elsewhere = await startTarget(onTestFinished, (response) => response.writeHead(204).end());
    const target = await startTarget(onTestFinished, (response) => {
      if (what === 'answers 500') response.writeHead(500).end();
      if (what === 'sends elsewhere') response.writeHead(302, { location: elsewhere.url }).end();
      if (what === 'breaks the connection') response.socket?.resetAndDestroy();
    });
    const line = await installation().makeLine({
      trunks: [{ port: carrier.sipPort }],
      agent: { postSessionWebhook: { url: target.url, events: [...ALL_EVENTS] } },
    });
    const toNumber = newNumber();
    carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script: [{ do: 'listen', quietMs: 300 }] });
    const call = await line.call({ toNumber });
    expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', endReason: 'caller_hangup' });

    const deliveries = async (): Promise<Delivery[]> =>
      (await line.api('GET', '/webhook-deliveries')).body.data.toReversed();
    await vi.waitFor(async () => expect(await deliveries()).toHaveLength(ALL_EVENTS.length), SLOW);
    expect((await deliveries()).map(({ event }) => event)).toEqual(ALL_EVENTS);
    expect(await deliveries()).toEqual(ALL_EVENTS.map(() => expect.objectContaining({ ok: false, ...seen })));
    expect([target.told, elsewhere.told]).toEqual([ALL_EVENTS, []]);
  });
});
