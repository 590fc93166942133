import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import type { AgentRelease } from '../../src/agents/releases/release.ts';
import { CallwayError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import type { ReleaseStore } from '../../src/engine/session/releases.ts';
import { createGuardedHttpClient } from '../../src/http/client.ts';
import { claimSend, type DueEvent } from '../../src/webhooks/outbox.ts';
import { type SendDeps, sendEvent } from '../../src/webhooks/sendEvent.ts';
import type { SigningSecrets } from '../../src/webhooks/signingSecrets.ts';
import { makeSigningSecret } from '../../src/webhooks/signingSecrets.ts';
import { serveOnLoopback } from '../support/loopbackServer.ts';
import { recordTraces } from '../support/recordedTraces.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';
import { ENDED_AT_MS, eventRow, memoryOutbox } from './support/memoryOutbox.ts';

const SECRET = makeSigningSecret();
const DUE: DueEvent = { event: 'session.finalized', deliveryId: 'delivery-2', attempt: 0 };
const TAKES: RequestListener = (request, response) => request.on('end', () => response.writeHead(204).end());

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface SceneOptions {
  readonly listener?: RequestListener;
  readonly url?: string;
  readonly clock?: SendDeps['clock'];
  /** That is due. */
  readonly event?: DueEvent['event'];
  /** Called between the commit of an outbox step and its answer. */
  readonly onCommitted?: (step: number) => Promise<void> | void;
}

/** A chat with one due event, one receiver, and the dependencies of senders on any number of nodes. */
async function scene({ listener = TAKES, url, clock = systemClock, ...options }: SceneOptions = {}) {
  const { event = DUE.event, onCommitted } = options;
  const taken = { begun: 0, whole: [] as string[] };
  const server = await serveOnLoopback((request, response) => {
    taken.begun += 1;
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('error', () => undefined);
    request.on('end', () => taken.whole.push(text));
    listener(request, response);
  });
  cleanups.push(() => server.close());
  const client = createGuardedHttpClient({
    policy: { allowInsecureLoopback: true },
    clock,
    userAgent: 'test',
  });
  cleanups.push(() => client.close());
  const target = { url: url ?? `http://127.0.0.1:${server.port}/hook`, headers: [], events: [] };
  const release: AgentRelease = {
    agent: { ...newAgentConfig('Test'), postSessionWebhook: target },
    pathwayId: 'p',
    pathwayVersion: 1,
    pathway: { nodes: [], edges: [] },
    tools: [],
  };
  const events = [
    ...(event === 'session.ended'
      ? []
      : [eventRow('session.ended', { status: 'settled', outcome: 'delivered', attempt: 1 })]),
    eventRow(event, { status: 'ready', deliveryId: DUE.deliveryId }),
  ];
  const memory = memoryOutbox({ outbox: { events }, onCommitted });
  const settled: [string, string | undefined][] = [];
  const { tracing, spans } = recordTraces(clock.now);
  const deps: SendDeps = {
    outbox: memory.outbox,
    onSettled: ({ event, error }, { sessionId }) => settled.push([`${event} of ${sessionId}`, error?.code]),
    releases: unused<ReleaseStore>('releases', { find: async () => release }),
    secrets: unused<SigningSecrets>('secrets', { signing: async () => [SECRET] }),
    client,
    clock,
    tracer: tracing,
    onError: (error) => {
      throw error;
    },
  };
  const send = (due = DUE) => sendEvent(deps, 'i', due, new AbortController().signal);
  return { ...memory, taken, client, settled, spans, send, row: () => memory.row(event) };
}

describe('sendEvent', () => {
  test('sends an event after its claim', async () => {
    const here = await scene({
      onCommitted: async (step) => {
        if (step > 1) return;
        await pause();
        expect(here.taken.begun).toBe(0);
      },
    });
    expect(await here.send()).toBe(true);
    expect(here.taken.whole.map((text) => JSON.parse(text).event)).toEqual(['session.finalized']);
    expect(here.row()).toMatchObject({ status: 'settled', outcome: 'delivered', attempt: 1 });
    expect(here.deliveries).toMatchObject([{ status: 204, attempt: 1, body: here.taken.whole[0] }]);
    expect(here.settled).toEqual([['session.finalized of s', undefined]]);
    expect(here.spans).toMatchObject([
      {
        name: 'webhook session.finalized',
        attributes: { 'http.response.status_code': 204 },
        failure: undefined,
      },
    ]);
  });

  test('sends an event from one of two nodes', async () => {
    const here = await scene();
    expect((await Promise.all([here.send(), here.send()])).sort()).toEqual([false, true]);
    expect(here.taken.begun).toBe(1);
    expect(here.deliveries).toHaveLength(1);
  });

  test.each([
    ['connect_failed', 'http://127.0.0.1:1/'],
    ['target_private_address', 'https://10.0.0.1/'],
    ['dns_failed', 'https://no.such.host.invalid/'],
  ])('logs an event that does not reach its receiver (%s) as failed', async (code, url) => {
    const here = await scene({ url });
    expect(await here.send()).toBe(true);
    expect(here.row()).toMatchObject({ status: 'settled', outcome: 'failed', attempt: 1 });
    expect(here.deliveries).toMatchObject([{ attempt: 1, status: null, error: { code } }]);
    expect(here.settled).toEqual([['session.finalized of s', code]]);
    expect(here.spans).toMatchObject([{ failure: { code }, endMs: expect.any(Number) }]);
  });

  test('logs an event without its data as failed', async () => {
    const here = await scene({ event: 'call.ended' });
    expect(await here.send({ ...DUE, event: 'call.ended' })).toBe(true);
    expect(here.taken.begun).toBe(0);
    expect(here.deliveries).toMatchObject([{ event: 'call.ended', error: { code: 'webhook_body_invalid' } }]);
  });

  test('changes nothing for an event without its data that another node has', async () => {
    const here = await scene({ event: 'call.ended' });
    await here.outbox.advance('i', (now) => claimSend(now, 'call.ended', 0));
    expect(await here.send({ ...DUE, event: 'call.ended' })).toBe(true);
    expect(here.row()).toMatchObject({ status: 'sending', attempt: 1 });
    expect(here.deliveries).toEqual([]);
  });
});

describe('sendEvent with a claim that comes too late', () => {
  const onceLate = (late: () => void) => {
    let isFirst = true;
    return async () => {
      if (!isFirst) return;
      isFirst = false;
      late();
      await pause();
    };
  };
  const frozen = () => {
    let stoodStillMs = 0;
    return {
      clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + stoodStillMs },
      late: () => {
        stoodStillMs = 10_001;
      },
    };
  };
  const slow = () => {
    const clock = createSimulatedClock(ENDED_AT_MS);
    return { clock, late: () => clock.advance(10_001) };
  };

  test.each([
    ['the database was slow', slow],
    ['the process stood still', frozen],
  ])('because %s sends nothing, and releases the claim', async (_why, make) => {
    const { clock, late } = make();
    const here = await scene({ clock, onCommitted: onceLate(late) });
    expect(await here.send()).toBe(false);
    expect(here.taken.begun).toBe(0);
    expect(here.row()).toMatchObject({ status: 'ready', outcome: null, attempt: 1 });
    expect(here.deliveries).toEqual([]);

    expect(await here.send({ ...DUE, attempt: 1 })).toBe(true);
    expect(here.taken.whole).toHaveLength(1);
    expect(here.deliveries).toMatchObject([{ status: 204, attempt: 2 }]);
  });
});

describe('sendEvent on a node', () => {
  test('without a database sends nothing', async () => {
    const away = new CallwayError('unavailable', 'database_unavailable', 'away');
    const here = await scene({ onCommitted: () => Promise.reject(away) });
    await expect(here.send()).rejects.toBe(away);
    expect(here.taken.begun).toBe(0);
  });

  test.each([
    ['session.ended', { status: 'ready', outcome: null }],
    ['session.finalized', { status: 'settled', outcome: 'failed' }],
  ] as const)(
    'that stops while it sends %s leaves it to others unless that might send it twice',
    async (event, row) => {
      const here = await scene({ event, listener: () => void here.client.close() });
      expect(await here.send({ ...DUE, event })).toBe(event === 'session.finalized');
      expect(here.row()).toMatchObject(row);
    },
  );
});

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 40));
