import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startSimulator } from '../../../src/app/simulator/simulator.ts';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import type { BehaviourInput } from '../../../src/testing/simulator/script.ts';
import { serveOnLoopback } from '../../support/loopbackServer.ts';
import { synthesizeSpeech } from '../../support/synthesizedSpeech.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { encodeWav } from '../../support/wavFile.ts';
import { phoneInstallation } from './support/installation.ts';
import { newNumber } from './support/line.ts';
import { soundSegments } from './support/tones.ts';
import { chatReply, speechReply, startVendor } from './support/vendor.ts';

const TIMEOUT = 90_000;
const RATE_HZ = 8000;
const BETWEEN_SOUNDS_MS = 150;
/** How late a busy machine may be. */
const LATE_MS = 3000;

/** Takes 7 s, as Apple's own. */
const SCREENER =
  'Hi if you record your name and your reason for calling me on this phone today I will see if this person is available to take your call.';
const WHO = 'It is the clinic, about your appointment.';

/**
 * The model greets, answers a call screening service, and fails at the words of a person; the recognition hears the
 * service where the node expects it.
 */
const vendor = await startVendor((service, request) => {
  if (service === 'speech') return speechReply;
  if (service === 'transcription') {
    const text = request.includes('screening') ? SCREENER : 'Yes, please.';
    return { body: JSON.stringify({ text }) };
  }
  if (request.includes('record your name') && !request.includes('Yes, please.')) return chatReply(WHO);
  return request.includes('"role":"user"') ? { status: 500, body: '{}' } : chatReply('Hello.');
});
const installation = await phoneInstallation({
  OPENAI_BASE_URL: vendor.baseUrl,
  OPENAI_API_KEY: 'key',
  EMBEDDING_PROVIDER: 'local',
});
const carrier = await startSimulator({ logger: pino({ level: 'silent' }) });
/** Accepts a request and never answers it. */
const silentTool = await serveOnLoopback(() => undefined);
const folder = makeTempDir();
const words = join(folder.path, 'words.wav');
const question = join(folder.path, 'question.wav');
beforeAll(async () => {
  for (const [file, text] of [
    [words, 'yes please'],
    [question, SCREENER],
  ] as const)
    await writeFile(file, encodeWav(await synthesizeSpeech(text, RATE_HZ, 'slt'), RATE_HZ));
});
afterAll(async () => {
  await Promise.all([carrier.close(), silentTool.close()]);
  folder.remove();
});

const says = (id: string, prompt: string) => ({ id, type: 'say', data: { title: id, prompt } });
const END = { id: 'end', type: 'end', data: { title: 'end' } };
const edge = (source: string, target: string, condition: object | null = null) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { condition },
});

type Script = Extract<BehaviourInput, { kind: 'answers' }>['script'];
const LISTENS: Script = [];
/** A phone that a busy machine connects late has missed the greeting, and speaks all the same. */
const SPEAKS: Script = [
  { do: 'listen', quietMs: 800, atMostMs: 4000 },
  { do: 'play', file: words },
];

/** A call to a phone that follows the script and stays until the agent hangs up. */
async function callOver(pathway: (line: ProjectTools) => Promise<object> | object, script: Script) {
  const toNumber = newNumber();
  carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script, stays: true });
  const line = await installation().makeLine({ trunks: [{ port: carrier.sipPort }] });
  const addTool = async (tool: object) => (await line.api('POST', '/tools', tool)).body.id as string;
  const graph = await pathway({ addTool });
  const { status, body } = await line.api('PUT', '/pathway', graph);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const call = await line.call({ toNumber });
  const ended = await line.waitForEnd(call);
  await line.waitForFinalized(call);
  const history = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
  const events: { type: string; data: Record<string, unknown> }[] = history.events;
  const recording = async () =>
    parseWav(new Uint8Array(await (await fetch((await line.readCall(call)).recording.url)).arrayBuffer()));
  return {
    ended,
    said: history.messages.flatMap((one: { role: string; content: string }) =>
      one.role === 'assistant' ? [one.content] : [],
    ),
    entered: events.flatMap(({ type, data }) => (type === 'node_entered' ? [data.nodeId] : [])),
    events,
    callEnded: installation()
      .webhooks.forSession(call.sessionId)
      .find(({ event }) => event === 'call.ended').call,
    /** What the caller heard, as starts and ends in milliseconds. */
    async heard() {
      const sounds = soundSegments(pickChannel(await recording(), 1), RATE_HZ, BETWEEN_SOUNDS_MS);
      return sounds.map(({ from, to }) => ({ fromMs: (from * 1000) / RATE_HZ, toMs: (to * 1000) / RATE_HZ }));
    },
  };
}

interface ProjectTools {
  addTool(tool: object): Promise<string>;
}

describe.concurrent('On a phone', { timeout: TIMEOUT }, () => {
  test.each([
    ['before the node asks again', 2500, { afterMs: 6000 }],
    ['although the node asks again before', 3200, { afterMs: 2000, prompts: ['Hello?'] }],
  ])('a silence edge is taken at its own time, %s', async (_, afterMs, silence) => {
    const call = await callOver(
      () => ({
        nodes: [
          { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', silence } },
          says('there', 'Are you there?'),
          END,
        ],
        edges: [edge('start', 'there', { event: 'silence', afterMs }), edge('there', 'end')],
      }),
      LISTENS,
    );
    expect(call.entered).toEqual(['start', 'there', 'end']);
    expect([call.said[0], call.said.at(-1)]).toEqual(['Hello.', 'Are you there?']);
    const sounds = await call.heard();
    const waitedMs = (sounds.at(-1)?.fromMs ?? Number.NaN) - (sounds[0]?.toMs ?? Number.NaN);
    // A busy phone hears the greeting's end late.
    expect(waitedMs).toBeGreaterThan(afterMs - 500);
    expect(waitedMs).toBeLessThan(afterMs + LATE_MS);
  });

  test('a model that fails ends the call with an apology, as agent_error', async () => {
    const call = await callOver(
      () => ({
        nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } }],
        edges: [],
      }),
      SPEAKS,
    );
    expect(call.ended).toMatchObject({ status: 'completed', endReason: 'agent_error' });
    expect(call.callEnded).toMatchObject({ status: 'completed', endReason: 'agent_error' });
    expect(call.said.at(-1)).toMatch(/something is not working on our side/);
    expect(call.events).toContainEqual(
      expect.objectContaining({
        type: 'error',
        data: expect.objectContaining({ code: 'model_unavailable' }),
      }),
    );
  });

  /** Asks as soon as it has answered, over the agent's greeting. */
  const ASKS: Script = [
    { do: 'wait', ms: 300 },
    { do: 'play', file: question },
  ];
  const screened = (silence: object) => ({
    id: 'start',
    type: 'start',
    data: { title: 'Talk', prompt: 'Talk.', expectedAnswers: ['screening'], silence },
  });

  test('a call screening service that asks for 7 s takes the screening edge', async () => {
    const call = await callOver(
      () => ({
        nodes: [
          screened({ afterMs: 60_000 }),
          says('who', 'The clinic is calling about your appointment.'),
          END,
        ],
        edges: [edge('start', 'who', { event: 'screening' }), edge('who', 'end')],
      }),
      ASKS,
    );
    expect(call.entered).toEqual(['start', 'who', 'end']);
    expect(call.said.at(-1)).toBe('The clinic is calling about your appointment.');
    expect(call.ended).toMatchObject({ answeringMachine: 'screening', endReason: 'agent_hangup' });
    expect(call.callEnded).toMatchObject({ answeringMachine: 'screening' });
    expect(call.events).toContainEqual(
      expect.objectContaining({
        type: 'answering_machine',
        data: expect.objectContaining({ kind: 'screening' }),
      }),
    );
  });

  test('a call screening service without an edge is answered as a person is', async () => {
    const silence = { afterMs: 3000, prompts: ['Hello?'], hangupAfter: 1 };
    const call = await callOver(() => ({ nodes: [screened(silence)], edges: [] }), ASKS);
    expect(call.said).toContain(WHO);
    expect(call.said.indexOf('Hello?')).toBeGreaterThan(call.said.indexOf(WHO));
    expect(call.ended).toMatchObject({ answeringMachine: 'screening', endReason: 'agent_hangup' });
    expect(call.events).not.toContainEqual(
      expect.objectContaining({ data: expect.objectContaining({ kind: 'voicemail' }) }),
    );
  });

  test('a tool that times out takes the edge for its failure', async () => {
    const call = await callOver(async ({ addTool }) => {
      const url = `http://127.0.0.1:${silentTool.port}/slots`;
      const tool = await addTool({ name: 'find_slot', http: { method: 'GET', url, timeoutMs: 400 } });
      return {
        nodes: [
          { id: 'start', type: 'start', data: { title: 'Start' } },
          { id: 'find', type: 'tool', data: { title: 'Find', tools: [tool] } },
          says('found', 'We have found one.'),
          says('sorry', 'We cannot see the calendar.'),
          END,
        ],
        edges: [
          edge('start', 'find'),
          edge('find', 'found', { event: 'tool_result', ok: true }),
          edge('find', 'sorry', { event: 'tool_result', ok: false }),
          edge('found', 'end'),
          edge('sorry', 'end'),
        ],
      };
    }, LISTENS);
    // On a slow machine the agent has said by then that it takes a moment.
    expect(call.said.join(' ')).toMatch(/We cannot see the calendar\.$/);
    expect(call.entered).toEqual(['start', 'find', 'sorry', 'end']);
    expect(call.events).toContainEqual(
      expect.objectContaining({
        type: 'tool_result',
        data: expect.objectContaining({ ok: false, result: expect.stringContaining('400 ms') }),
      }),
    );
  });
});
