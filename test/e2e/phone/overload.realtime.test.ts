import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startSimulator } from '../../../src/app/simulator/simulator.ts';
import { callers } from '../../scenarios/callers.ts';
import { runSipp } from '../../sip/support/sipp.ts';
import type { ApiAnswer } from '../../support/gateway.ts';
import { reservePort } from '../../support/ports.ts';
import { requiresSipPeers } from '../../support/skips.ts';
import { phoneInstallation } from './support/installation.ts';
import { newNumber, type PlacedCall, SLOW } from './support/line.ts';

const TIMEOUT = 180_000;
const LIMIT_MS = 60;
/** Each call blocks the event loop for so long, again and again: the fourth is too many. */
const STALL_PER_CALL_MS = 40;
const PAUSE_MS = 10;
const OFFERED = 6;
const BETWEEN_CALLS_MS = 1_500;

const installation = await phoneInstallation({ OVERLOAD_EVENT_LOOP_MS: String(LIMIT_MS) });
const carrier = await startSimulator({ logger: pino({ level: 'silent' }) });
afterAll(() => carrier.close());

/** Work on the event loop of the node, which is this one. */
class Stalls {
  calls = 0;
  readonly #never = new Int32Array(new SharedArrayBuffer(4));
  readonly #timer = setInterval(
    () => void Atomics.wait(this.#never, 0, 0, this.calls * STALL_PER_CALL_MS),
    PAUSE_MS,
  );

  end(): void {
    clearInterval(this.#timer);
  }
}

const stalls = new Stalls();
afterAll(() => stalls.end());

function refusalOf({ status, headers, body }: ApiAnswer) {
  return { status, retryAfter: headers.get('retry-after'), code: body.code };
}
const overloadedParts = async (): Promise<string[] | undefined> =>
  (await installation().gateway.api('GET', '/readyz', { key: null })).body.overloaded;
const REFUSED = { status: 503, retryAfter: '5', code: 'node_overloaded' };

describe('a node that is offered twice its capacity', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('refuses new calls, keeps the quality of those in progress, and takes calls again afterwards', async () => {
    const line = await installation().makeLine({
      trunks: [{ port: carrier.sipPort, inboundCidrs: ['127.0.0.1/32'] }],
      number: { inboundEnabled: true },
    });
    const calls: PlacedCall[] = [];
    const mosOf = async (call: PlacedCall): Promise<number | undefined> =>
      (await line.readCall(call)).mediaFigures?.mos;
    const isInProgress = async (call: PlacedCall) => (await line.readCall(call)).status === 'in_progress';
    const place = async () => {
      const toNumber = newNumber();
      carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script: [{ do: 'wait', ms: TIMEOUT }] });
      const answer = await line.requestCall({ toNumber });
      if (answer.status !== 202) return answer;
      calls.push(answer.body);
      // An order that came right before the overload waits in the queue for another node.
      await vi.waitFor(async () => {
        expect((await isInProgress(answer.body)) || (await overloadedParts()) !== undefined).toBe(true);
      }, SLOW);
      return answer;
    };

    let refused: ApiAnswer[] = [];
    let mosBefore: number | undefined;
    while (calls.length === 0 || refused.length < 2) {
      const answer = await place();
      stalls.calls = calls.length;
      refused = answer.status === 202 ? [] : [...refused, answer];
      await sleep(BETWEEN_CALLS_MS);
      mosBefore ??= calls[0] && (await mosOf(calls[0]));
      expect(calls.length).toBeLessThan(OFFERED);
    }
    expect(refused.slice(-2).map(refusalOf)).toEqual([REFUSED, REFUSED]);
    await expect.poll(overloadedParts, SLOW).toEqual(['main']);
    expect(refusalOf(await line.api('POST', '/media-streams', { dialect: 'callway' }))).toEqual(REFUSED);
    const { exitCode, output } = await runSipp({
      scenario: callers.refused(503, [['Retry-After', '5']]),
      user: line.number,
      remote: `127.0.0.1:${installation().sipPort}`,
      localPort: await reservePort(),
      calls: 1,
    });
    expect([exitCode, output]).toEqual([0, expect.anything()]);
    const chat = { messages: [{ role: 'user', content: 'Hello' }] };
    expect((await line.api('POST', '/chat/completions', chat)).status).toBe(200);

    for (const call of calls) {
      // A call that has just begun has no figures yet.
      const figure = (await isInProgress(call)) ? await mosOf(call) : undefined;
      if (figure !== undefined) expect(figure).toBeGreaterThan(0.9 * (mosBefore ?? Number.NaN));
    }

    stalls.end();
    await vi.waitFor(async () => expect((await place()).status).toBe(202), SLOW);
    while (calls.length < OFFERED) expect((await place()).status).toBe(202);
    // The agent has taken leave of those that said nothing.
    for (const call of calls) await line.waitForStatus(call, 'in_progress', 'completed');
  });
});
