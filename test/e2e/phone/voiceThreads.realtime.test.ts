import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { afterAll, describe, expect, test, vi } from 'vitest';

import { startSimulator } from '../../../src/app/simulator/simulator.ts';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { startRedis } from '../../support/redis.ts';
import { phoneInstallation } from './support/installation.ts';
import { type Line, newNumber, type PlacedCall, SLOW } from './support/line.ts';
import { soundMs } from './support/tones.ts';

const TIMEOUT = 180_000;
/** Several sentences and silences long. */
const BLOCKED_MS = 8_000;
const BOUNDARY_MS = 1_000;

/** An agent that goes on speaking to a silent caller, without a model. */
const silence = { event: 'silence', afterMs: 1000 };
const TALKATIVE = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greet', prompt: 'Say "Hello."' } },
    { id: 'one', type: 'say', data: { title: 'One', prompt: 'This is the first sentence.' } },
    { id: 'two', type: 'say', data: { title: 'Two', prompt: 'This is the second sentence.' } },
  ],
  edges: [
    { id: 'a', source: 'start', target: 'one', data: { condition: silence } },
    { id: 'b', source: 'one', target: 'two', data: { condition: silence } },
    { id: 'c', source: 'two', target: 'one', data: { condition: silence } },
  ],
};

const workers = new Set<Worker>();
const onWorker = (message: unknown) => void workers.add((message as { worker: Worker }).worker);
subscribe('worker_threads', onWorker);
const redis = await startRedis();
// Runs after the installation's.
afterAll(redis.close);
const installation = await phoneInstallation({ DRAIN_SECONDS: '1', REDIS_URL: redis.url });
/** Phones whose agent hung up. */
const hungUp: string[] = [];
const carrier = await startSimulator({
  logger: pino({ level: 'silent' }),
  onEvent: (number, event) => void (event.kind === 'hung_up' && event.by === 'peer' && hungUp.push(number)),
});
afterAll(async () => {
  unsubscribe('worker_threads', onWorker);
  await carrier.close();
});

async function startCall(): Promise<{ line: Line; call: PlacedCall; toNumber: string }> {
  const toNumber = newNumber();
  carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script: [{ do: 'wait', ms: 120_000 }] });
  const line = await installation().makeLine({ trunks: [{ port: carrier.sipPort }], pathway: TALKATIVE });
  const call = await line.call({ toNumber });
  await line.waitForStatus(call, 'in_progress');
  await vi.waitFor(
    async () => expect((await historyOf(line, call)).messages.length).toBeGreaterThan(1),
    SLOW,
  );
  return { line, call, toNumber };
}

interface History {
  readonly messages: readonly { at: string; content: string }[];
  readonly events: readonly { type: string; data: { code?: string } }[];
}

async function historyOf(line: Line, { sessionId }: PlacedCall): Promise<History> {
  return (await line.api('GET', `/session-history/${sessionId}`)).body;
}

async function endVoiceThread(): Promise<void> {
  const voice = [...workers].filter(({ resourceLimits }) => resourceLimits?.maxOldGenerationSizeMb === 512);
  expect(voice).toHaveLength(1);
  await Promise.all(voice.map((worker) => worker.terminate()));
}

async function metrics(): Promise<string> {
  return await (await fetch(`${installation().gateway.url}/metrics`)).text();
}

/** The agent speaks again in a voice thread that has the call now. */
async function untilResumed(line: Line, call: PlacedCall): Promise<void> {
  await vi.waitFor(async () => {
    const { events } = await historyOf(line, call);
    expect(events.map(({ data }) => data.code)).toContain('stream_resumed');
  }, SLOW);
  const { messages } = await historyOf(line, call);
  await vi.waitFor(async () => {
    expect((await historyOf(line, call)).messages.length).toBeGreaterThan(messages.length + 1);
  }, SLOW);
}

/** Like a computation, without taking the processor from the other tests. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('voice threads', { timeout: TIMEOUT }, () => {
  test('go on with a call while the main thread is blocked', async () => {
    const { line, call } = await startCall();
    const fromMs = Date.now();
    block(BLOCKED_MS);
    const toMs = Date.now();
    await line.api('POST', `/calls/${call.callId}/hangup`);
    await line.waitForFinalized(call);
    const { answeredAt, recording } = await line.readCall(call);
    const said = (await historyOf(line, call)).messages.map(({ at }) => Date.parse(at));
    expect(said.filter((at) => at > fromMs + BOUNDARY_MS && at < toMs - BOUNDARY_MS)).not.toEqual([]);

    const wav = parseWav(new Uint8Array(await (await fetch(recording.url)).arrayBuffer()));
    const [from, to] = [fromMs + BOUNDARY_MS, toMs].map((ms) =>
      Math.round(((ms - Date.parse(answeredAt)) * wav.sampleRateHz) / 1000),
    );
    const heard = pickChannel(wav, 1).subarray(from, to);
    expect(soundMs(heard, wav.sampleRateHz)).toBeGreaterThan(1500);
  });

  test('that die while Redis is away are replaced, and the call goes on', async () => {
    const { line, call } = await startCall();
    await redis.stop('kill9');
    await endVoiceThread();
    await vi.waitFor(async () => expect(await metrics()).toMatch(/^callway_talks_active 1$/m), SLOW);
    await redis.start();
    await vi.waitFor(
      async () => expect((await line.api('GET', `/calls/${call.callId}`)).status).toBe(200),
      SLOW,
    );
    await untilResumed(line, call);
    await line.api('POST', `/calls/${call.callId}/hangup`);
    expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', endReason: 'api_hangup' });
  });

  test('that die in the middle of a disclosure are replaced, and it is said whole once more', async () => {
    const toNumber = newNumber();
    carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script: [{ do: 'wait', ms: 120_000 }] });
    const text =
      'This is an automated call on behalf of the clinic, it is recorded, and you may ask for a person at any time.';
    const line = await installation().makeLine({
      trunks: [{ port: carrier.sipPort }],
      pathway: TALKATIVE,
      agent: { disclosures: [{ id: 'who', text, withinSeconds: 100, direction: 'outbound' }] },
    });
    const call = await line.call({ toNumber });
    await line.waitForStatus(call, 'in_progress');
    // It takes some six seconds to say.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const heard = async () =>
      (await historyOf(line, call)).events.filter(({ type }) => type === 'disclosure_heard');
    expect(await heard()).toEqual([]);
    await endVoiceThread();
    await vi.waitFor(async () => expect(await heard()).toHaveLength(1), SLOW);
    const contents = async () => (await historyOf(line, call)).messages.map(({ content }) => content);
    await vi.waitFor(async () => expect((await contents()).at(-1)).not.toBe(text), SLOW);
    // What was said of it before is kept, too.
    const said = await contents();
    expect(said.slice(said.indexOf(text))).toEqual([text, expect.stringContaining('Hello')]);
    await line.api('POST', `/calls/${call.callId}/hangup`);
    expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', violations: [] });
  });

  test('are drained for DRAIN_SECONDS; a call that goes on is hung up then', async () => {
    const { toNumber } = await startCall();
    const beganMs = performance.now();
    await installation().gateway.stop();
    expect(performance.now() - beganMs).toBeGreaterThan(1000);
    // The phone would have stayed for two minutes.
    expect(hungUp).toContain(`+886${toNumber.slice(1)}`);
  });
});
