import { describe, expect, test, vi } from 'vitest';
import type { BehaviourInput } from '../../../../src/testing/simulator/script.ts';
import { type Line, type LineOptions, newNumber, type PlacedCall, SLOW } from '../support/line.ts';
import { ALL_EVENTS } from '../support/webhooks.ts';
import { carrier, installation } from './installation.ts';

const TIMEOUT = 120_000;

/** A busy machine is silent for longer than an agent waits. */
const silence = { afterMs: 60_000 };

/** An agent that greets, and says something else after a DTMF digit. */
function pathway(greeting: string, answer: string) {
  return {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Greet', prompt: `Say "${greeting}"`, silence } },
      { id: 'answer', type: 'conversation', data: { title: 'Answer', prompt: `Say "${answer}"`, silence } },
    ],
    edges: [
      { id: 'key', source: 'start', target: 'answer', data: { condition: { event: 'dtmf', digits: '1' } } },
    ],
  };
}
const OLD = pathway('Old greeting.', 'Old answer.');
const NEW = pathway('New greeting.', 'New answer.');

/** Waits for the greeting, leaves time for changes, sends a digit, waits for the answer. */
const PATIENT: Extract<BehaviourInput, { kind: 'answers' }> = {
  kind: 'answers',
  afterMs: 0,
  script: [
    { do: 'listen', quietMs: 1500 },
    { do: 'wait', ms: 1500 },
    { do: 'send_dtmf', digits: '1' },
    { do: 'listen', quietMs: 1000 },
  ],
};

const makeLine = (more: Partial<LineOptions> = {}) =>
  installation().makeLine({
    trunks: [{ port: carrier.sipPort, inboundCidrs: ['127.0.0.1/32'] }],
    number: { inboundEnabled: true },
    pathway: OLD,
    ...more,
  });

async function place(line: Line): Promise<PlacedCall> {
  const toNumber = newNumber();
  carrier.phones.set(toNumber, PATIENT);
  return await line.call({ toNumber });
}

/** What the agent said in a finalized call. */
async function saidIn(line: Line, call: PlacedCall): Promise<string[]> {
  expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', endReason: 'caller_hangup' });
  expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
  const { messages } = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
  return messages.flatMap((one: { role: string; content: string }) =>
    one.role === 'assistant' ? [one.content] : [],
  );
}

/** Until the caller has been greeted. */
const greeted = (line: Line, { sessionId }: PlacedCall) =>
  vi.waitFor(
    async () => expect((await line.api('GET', `/sessions/${sessionId}`)).body.state.messages.length).toBe(1),
    SLOW,
  );

async function change(line: Line, method: string, path: string, body?: object): Promise<void> {
  const headers: Record<string, string> = {};
  if (path === '/pathway') headers['if-match'] = (await line.api('GET', path)).headers.get('etag') ?? '';
  const { status } = await line.api(method, path, body, { headers });
  expect(status).toBeLessThan(300);
}

describe.concurrent('a running call keeps its version', { timeout: TIMEOUT }, () => {
  test('when its pathway is changed and published; the next call has the new one', async () => {
    const line = await makeLine();
    const call = await place(line);
    await greeted(line, call);
    await change(line, 'PUT', '/pathway', NEW);
    await change(line, 'PUT', '/agent', { status: 'published' });
    expect(await saidIn(line, call)).toEqual(['Old greeting.', 'Old answer.']);
    expect(await saidIn(line, await place(line))).toEqual(['New greeting.', 'New answer.']);
  });
});
