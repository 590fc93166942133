import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { HOSTILE_ERRORS, startHostileServer } from '../../../support/hostileAnswers.ts';
import { listenOnLoopback } from '../../../support/loopbackServer.ts';
import { type Line, makeLine } from '../../phone/support/line.ts';
import type { Rig } from '../support/rig.ts';
import { report, requiresAllFaults } from '../support/table.ts';

const TIMEOUT = 240_000;
const CALLS = 3;
const DIGITS = 3;
/** With the pause after which the person presses a digit. */
const MAX_SILENCE_MS = 5000;
const MAX_CHAT_MS = 5000;
const MAX_GROWN_MEGABYTES = 300;
const ATTACKERS = 3;
const FINALS_AT_ONCE = 1000;
const FINALS_EVERY_MS = 100;

interface Attack {
  readonly what: string;
  /** The vendor that the tenant brings. */
  readonly vendor: string;
  readonly agent: object;
  /** Starts the vendor's server. */
  start(): Promise<{ readonly port: number; readonly connections: () => number }>;
}

const errorOf300Megabytes: Attack = {
  what: 'a chat endpoint with errors of 300 MB',
  vendor: 'openai',
  agent: {},
  async start() {
    const error = HOSTILE_ERRORS['in chunks'];
    if (!error) throw new Error('there is no such answer');
    const server = await startHostileServer(error());
    onTestFinished(() => server.close());
    return server;
  },
};

const manyFinals: Attack = {
  what: 'a recognizer with 10,000 final transcripts a second',
  vendor: 'custom_stt',
  agent: { speech: { recognition: { provider: 'custom' } } },
  async start() {
    const server = createServer();
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.on('error', () => undefined);
      const timer = setInterval(() => {
        for (let n = 0; n < FINALS_AT_ONCE; n++)
          socket.send(JSON.stringify({ type: 'final', text: `words and more words ${n}` }));
      }, FINALS_EVERY_MS);
      socket.on('close', () => clearInterval(timer));
    });
    const listening = await listenOnLoopback(server);
    onTestFinished(listening.close);
    return listening;
  },
};

/** Attacks by one tenant, of which the calls and chats of another one notice nothing. */
export function testAttacks(rig: () => Rig): void {
  describe('an attack by another tenant', { ...requiresAllFaults, timeout: TIMEOUT }, () => {
    test.each([errorOf300Megabytes, manyFinals])(
      'with $what is not heard in calls',
      async ({ what, vendor, agent, start }) => {
        const { cluster, line, people, webhooks, startCalls, waitForCompletion } = rig();
        const tenant = await makeLine(cluster.client, webhooks, {
          trunks: [{ port: people.carrier.sipPort, callsPerSecond: 50, maxChannels: 50 }],
          agent,
        });
        const server = await start();
        const credentials = { apiKey: 'key', baseUrl: `http://127.0.0.1:${server.port}` };
        const asOperator = { key: cluster.client.adminToken };
        const kept = await tenant.api('PUT', `/providers/${vendor}`, credentials, asOperator);
        expect(kept.status).toBe(200);
        const pids = cluster.nodes.map(({ process }) => process.pid);
        const before = peakMegabytes();
        const calls = await startCalls(CALLS, DIGITS);
        let isOver = false;
        const chats = { ours: 0, theirs: 0, slowestMs: 0, attacks: 0 };
        const attacking = Array.from({ length: ATTACKERS }, async () => {
          while (!isOver) {
            await chat(tenant);
            chats.theirs += 1;
          }
        });
        const calling = (async () => {
          while (!isOver) {
            const { status } = await tenant.requestCall({ toNumber: people.answering(1, true) });
            if (status === 202) chats.attacks += 1;
            await sleep(1000);
          }
        })();
        const asking = (async () => {
          while (!isOver) {
            const startedMs = performance.now();
            expect((await chat(line)).status).toBe(200);
            chats.slowestMs = Math.max(chats.slowestMs, performance.now() - startedMs);
            chats.ours += 1;
            await sleep(100);
          }
        })();
        const silenceMs = await waitForCompletion(calls).finally(() => {
          isOver = true;
        });
        await Promise.all([...attacking, calling, asking]);
        const grown = peakMegabytes() - before;
        expect(server.connections()).toBeGreaterThan(CALLS);
        expect(cluster.nodes.map(({ process }) => process.pid)).toEqual(pids);
        expect(silenceMs).toBeLessThan(MAX_SILENCE_MS);
        expect(chats.slowestMs).toBeLessThan(MAX_CHAT_MS);
        expect(grown).toBeLessThan(MAX_GROWN_MEGABYTES);
        report({
          what: `Another tenant has ${what}`,
          done: `${chats.theirs} chats and ${chats.attacks} calls of that tenant during ${CALLS} calls of this one`,
          seen: `longest silence ${silenceMs} ms; ${chats.ours} chats, the slowest ${Math.round(chats.slowestMs)} ms; the largest node grew by ${grown} MB`,
        });
      },
    );
  });

  const chat = (by: Line) =>
    by.api('POST', '/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] });
  /** The most that a node has had in memory. */
  const peakMegabytes = () =>
    Math.max(
      ...rig().cluster.nodes.map(({ process: { pid } }) => {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      }),
    );
}
