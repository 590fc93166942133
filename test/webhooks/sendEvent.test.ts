import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import type { AgentRelease } from '../../src/agents/release.ts';
import { systemClock } from '../../src/base/clock.ts';
import { CallwayError } from '../../src/base/errors.ts';
import { createGuardedHttpClient } from '../../src/infra/httpClient/client.ts';
import type { WebhookDelivery } from '../../src/webhooks/deliveryStore.ts';
import { claimSend, type DueEvent } from '../../src/webhooks/outbox.ts';
import type { Outbox, OutboxSession, OutboxStore } from '../../src/webhooks/outboxStore.ts';
import { type SendDeps, sendEvent } from '../../src/webhooks/sendEvent.ts';
import { makeSigningSecret } from '../../src/webhooks/signature.ts';
import { serveOnLoopback } from '../support/loopbackServer.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const SECRET = makeSigningSecret();
const DUE: DueEvent = { event: 'session.finalized', deliveryId: 'delivery-2', attempt: 0 };
const SESSION: OutboxSession = {
  projectId: '0190b0a0-0000-7000-8000-000000000001',
  sessionId: 's',
  releaseId: 'r',
  channel: 'chat',
  callId: null,
  startedAt: '2026-01-01T10:00:00.000Z',
  endedAt: '2026-01-01T10:01:00.000Z',
  endReason: 'api_end',
  variables: {},
  messages: [],
  evaluation: undefined,
  factsAt: {},
};
const TAKES: RequestListener = (request, response) => request.on('end', () => response.writeHead(204).end());

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface SceneOptions {
  readonly listener?: RequestListener;
  readonly url?: string;
  readonly clock?: SendDeps['clock'];
  /** Comes between a step of the outbox that has been kept and its answer. */
  readonly onKept?: (call: number) => Promise<void> | void;
}

/** A chat whose session.finalized is due, one receiver, and what any number of nodes have to send it with. */
async function scene({ listener = TAKES, url, clock = systemClock, onKept }: SceneOptions = {}) {
  const taken = { begun: 0, brokenOff: 0, whole: [] as string[] };
  const server = await serveOnLoopback((request, response) => {
    taken.begun += 1;
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('error', () => undefined);
    request.on('end', () => taken.whole.push(text));
    request.on('close', () => {
      if (!request.complete) taken.brokenOff += 1;
    });
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
  const memory = memoryOutbox(onKept);
  const deps: SendDeps = {
    outbox: memory.outbox,
    releases: { find: async () => release },
    secrets: { signing: async () => [SECRET] },
    client,
    clock,
  };
  const send = (due = DUE) => sendEvent(deps, 'i', due, new AbortController().signal);
  return { ...memory, taken, client, send };
}

function memoryOutbox(onKept: SceneOptions['onKept']) {
  const done = {
    subscribed: true,
    status: 'settled',
    outcome: 'delivered',
    attempt: 1,
    leaseUntilMs: null,
  } as const;
  const due = { subscribed: true, status: 'ready', outcome: null, attempt: 0, leaseUntilMs: null } as const;
  const deliveries: WebhookDelivery[] = [];
  let calls = 0;
  let kept: Outbox = {
    finalizeByMs: 0,
    evaluating: false,
    tasksAtMs: null,
    taskAttempts: 0,
    events: [
      { event: 'session.ended', deliveryId: 'delivery-1', ...done },
      { event: 'session.finalized', deliveryId: 'delivery-2', ...due },
    ],
    facts: [],
  };
  const never = () => Promise.reject(new Error('not asked for'));
  const outbox: OutboxStore = {
    claimDue: never,
    release: never,
    recordFact: never,
    saveEvaluation: never,
    session: async () => SESSION,
    async advance(_instanceId, step) {
      const { outbox: next, delivery, result } = step(kept);
      kept = next;
      if (delivery) deliveries.push(delivery);
      calls += 1;
      await onKept?.(calls);
      return result;
    },
  };
  return { outbox, deliveries, calls: () => calls, row: () => kept.events[1] };
}

describe('an event', () => {
  test('is at its receiver but for the last byte when leave is asked for, and whole only after it', async () => {
    const here = await scene({
      onKept: async (call) => {
        if (call > 1) return;
        await vi.waitFor(() => expect(here.taken.begun).toBe(1));
        await pause();
        expect(here.taken.whole).toEqual([]);
      },
    });
    expect(await here.send()).toBe(true);
    expect(here.taken.whole.map((text) => JSON.parse(text).event)).toEqual(['session.finalized']);
    expect(here.row()).toMatchObject({ status: 'settled', outcome: 'delivered', attempt: 1 });
    expect(here.deliveries).toMatchObject([{ status: 204, attempt: 1, body: here.taken.whole[0] }]);
  });

  test('that two nodes send at once arrives whole once, and broken off once', async () => {
    const here = await scene();
    expect((await Promise.all([here.send(), here.send()])).sort()).toEqual([false, true]);
    await vi.waitFor(() => expect(here.taken.brokenOff).toBe(1));
    expect(here.taken.whole).toHaveLength(1);
    expect(here.deliveries).toHaveLength(1);
  });

  test.each([
    ['connect_failed', 'http://127.0.0.1:1/'],
    ['target_private_address', 'https://10.0.0.1/'],
    ['dns_failed', 'https://no.such.host.invalid/'],
  ])('that certainly did not get out (%s) has failed without leave, and is recorded', async (code, url) => {
    const here = await scene({ url });
    expect(await here.send()).toBe(true);
    expect(here.calls()).toBe(1);
    expect(here.row()).toMatchObject({ status: 'settled', outcome: 'failed', attempt: 0 });
    expect(here.deliveries).toMatchObject([{ attempt: 1, status: null, error: { code } }]);
  });

  test('that did not get out from a slow node changes nothing where another is at it', async () => {
    const here = await scene({ url: 'http://127.0.0.1:1/' });
    await here.outbox.advance('i', (now) => claimSend(now, 'session.finalized', 0));
    expect(await here.send()).toBe(true);
    expect(here.row()).toMatchObject({ status: 'sending', attempt: 1 });
    expect(here.deliveries).toEqual([]);
  });

  test('whose receiver answers before it has all of it is recorded by that answer', async () => {
    const here = await scene({ listener: (_request, response) => response.writeHead(401).end() });
    expect(await here.send()).toBe(true);
    expect(here.row()).toMatchObject({ outcome: 'failed', attempt: 1 });
    expect(here.deliveries).toMatchObject([{ status: 401, error: { code: 'unexpected_status' } }]);
  });

  test('whose receiver goes while leave is on its way has failed', async () => {
    const here = await scene({
      listener: (request) => setTimeout(() => request.socket.destroy(), 10),
      onKept: (call) => (call === 1 ? pause() : undefined),
    });
    expect(await here.send()).toBe(true);
    expect(here.row()).toMatchObject({ status: 'settled', outcome: 'failed', attempt: 1 });
    expect(here.deliveries).toMatchObject([{ attempt: 1, error: { code: 'connection_lost' } }]);
  });
});

describe('leave that comes too late', () => {
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
    const clock = createSimulatedClock(Date.parse(SESSION.endedAt));
    return { clock, late: () => clock.advance(10_000) };
  };

  test.each([
    ['since the database took the delivery’s time', slow],
    ['since the process stood still', frozen],
  ])('%s is given back, so that nothing is lost, and nothing was sent', async (_why, make) => {
    const { clock, late } = make();
    const here = await scene({ clock, onKept: onceLate(late) });
    expect(await here.send()).toBe(false);
    await vi.waitFor(() => expect(here.taken.brokenOff).toBe(1));
    expect(here.taken.whole).toEqual([]);
    expect(here.row()).toMatchObject({ status: 'ready', outcome: null, attempt: 1 });
    expect(here.deliveries).toEqual([]);

    expect(await here.send({ ...DUE, attempt: 1 })).toBe(true);
    expect(here.taken.whole).toHaveLength(1);
    expect(here.deliveries).toMatchObject([{ status: 204, attempt: 2 }]);
  });
});

describe('a node', () => {
  test('that cannot ask for leave sends nothing', async () => {
    const away = new CallwayError('unavailable', 'database_unavailable', 'away');
    const here = await scene({ onKept: () => Promise.reject(away) });
    await expect(here.send()).rejects.toBe(away);
    await vi.waitFor(() => expect(here.taken.brokenOff).toBe(1));
    expect(here.taken.whole).toEqual([]);
  });

  test('that stops before it asked for leave leaves the event to another', async () => {
    const here = await scene();
    await here.client.close();
    await expect(here.send()).rejects.toThrow('stopped before the event was sent');
    expect(here.row()).toMatchObject({ status: 'ready', attempt: 0 });
    expect(here.deliveries).toEqual([]);
  });
});

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 40));
