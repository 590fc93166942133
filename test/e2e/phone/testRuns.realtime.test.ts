import { beforeAll, describe, expect, test, vi } from 'vitest';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import { tone } from '../../media/support/signals.ts';
import { phoneInstallation } from './support/installation.ts';
import type { Line } from './support/line.ts';
import { soundSegments } from './support/tones.ts';
import { chatReply, type Reply, type Service, startVendor, transcriptionReply } from './support/vendor.ts';

const TIMEOUT = 180_000;
/** All cases at once, on a busy machine. */
const RUN = { timeout: 150_000, interval: 500 };
const PERSON = '+886223456789';
const SPOKEN_MS = 2000;
const RATE_HZ = 24_000;
/** How late a busy machine may be. */
const LATE_MS = 2500;
const SPEECH = new Uint8Array(tone(RATE_HZ, 440, (RATE_HZ * SPOKEN_MS) / 1000).buffer);
/** What the model says, by its node's prompt. */
const ANSWERS = {
  Greet: 'Hello, this is the clinic.',
  Ask: 'What is the matter?',
} as const;

/** Answers by the prompt that comes last, and hears the same whatever was said. */
function conductOf(service: Service, request: string): Reply {
  if (service === 'speech') return { type: 'audio/pcm', body: SPEECH };
  if (service === 'transcription') return transcriptionReply;
  if (request.includes('You play a person')) return chatReply('Yes, please. [hang up]');
  const [last] = Object.entries(ANSWERS).toSorted(
    ([one], [other]) => request.lastIndexOf(`${other} them`) - request.lastIndexOf(`${one} them`),
  );
  return chatReply(last?.[1] ?? '');
}

const vendor = await startVendor(conductOf);
const installation = await phoneInstallation({
  OPENAI_BASE_URL: vendor.baseUrl,
  OPENAI_API_KEY: 'key',
  EMBEDDING_PROVIDER: 'local',
});

const node = (id: string, type: string, data: object = {}) => ({ id, type, data: { title: id, ...data } });
const edge = (source: string, target: string, condition: unknown = null) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { condition },
});

const expected = (type: string, value: unknown) => ({ type, value });
const CASES = {
  interrupted: {
    turns: [
      { say: 'Hello.' },
      { interrupt: { afterMs: 200, say: 'Yes, please, I would like that.' } },
      { expect: expected('interrupted_within_ms', 20_000) },
      { expect: expected('contains', 'What is the matter') },
    ],
    phone: { codec: 'PCMA', noise: 'office', snrDb: 60, voice: 'slt' },
    assertions: [expected('max_latency_ms', 20_000), expected('ended_by', 'caller')],
  },
  keys: {
    variables: { name: 'Amy' },
    turns: [{ dtmf: '1' }, { waitMs: 1500 }],
    phone: { codec: 'G722', lossPercent: 3, jitterMs: 20 },
    toolMocks: [
      { name: 'find_slot', result: { day: 'Monday' } },
      { name: 'beforeStartConfig', result: { variables: { clinic: 'North' } } },
    ],
    assertions: [
      { type: 'said_in_order', values: ['clinic', 'Monday'] },
      { type: 'variable_equals', name: 'name', value: 'Amy' },
      { type: 'variable_equals', name: 'clinic', value: 'North' },
      { type: 'tool_called', name: 'find_slot' },
      { type: 'dtmf_sent', digits: '42' },
      { type: 'json_path', path: '$.find_slot.day', value: 'Monday' },
      expected('ended_by', 'caller'),
    ],
  },
  transferred: {
    turns: [{ dtmf: '2' }],
    assertions: [{ type: 'transferred_to', to: PERSON }, expected('ended_by', 'agent')],
  },
  persona: {
    persona: { prompt: 'A patient.' },
    phone: { codec: 'opus' },
    assertions: [expected('contains', 'What is the matter'), expected('not_contains', 'Monday')],
  },
  silent: {
    turns: [{ silenceMs: 500 }, { waitMs: 100 }, { hangup: true }],
    phone: { noise: 'babble', snrDb: 60, voice: 'kal16' },
    assertions: [expected('contains', 'clinic'), expected('not_contains', 'matter')],
  },
} as const;

type Name = keyof typeof CASES;
// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document vouches for the shape
type Answer = any;

let line: Line;
let run: Answer;

beforeAll(async () => {
  const { webhooks, gateway } = installation();
  line = await installation().makeLine({
    trunks: [{ port: 5999 }],
    agent: { memoryEnabled: true, beforeStartConfig: { url: webhooks.url } },
  });
  const limited = { callLimits: { maxConcurrentCalls: 1, maxCallsPerMinute: 1 } };
  const { status } = await gateway.api('PATCH', line.path, { body: limited });
  expect(status).toBe(200);
  const { id } = await make('POST', '/tools', {
    name: 'find_slot',
    description: 'Finds a free slot.',
    http: { method: 'GET', url: webhooks.url },
  });
  await make('PUT', '/pathway', {
    nodes: [
      node('start', 'start', { prompt: 'Greet them.' }),
      node('matter', 'conversation', { prompt: 'Ask them.' }),
      node('slot', 'tool', { tools: [id] }),
      node('offer', 'say', { prompt: 'There is one on Monday.' }),
      node('press', 'tool', { tools: ['send_dtmf'], arguments: { digits: '42' } }),
      node('person', 'transfer', { to: PERSON }),
    ],
    edges: [
      edge('start', 'slot', { event: 'dtmf', digits: '1' }),
      edge('start', 'person', { event: 'dtmf', digits: '2' }),
      edge('start', 'matter'),
      edge('slot', 'press'),
      edge('press', 'offer'),
      edge('offer', 'matter'),
    ],
  });
  const testCaseIds: string[] = [];
  for (const [name, testCase] of Object.entries(CASES))
    testCaseIds.push((await make('POST', '/test-cases', { name, channel: 'phone', ...testCase })).id);
  const suite = await make('POST', '/test-suites', { name: 'Phone', testCaseIds });
  const started = await make('POST', `/test-suites/${suite.data.id}/runs`, {
    version: 'draft',
    concurrency: 20,
    seed: 7,
  });
  await vi.waitFor(async () => {
    run = await shown(started.data.id);
    expect(run.endedAt).not.toBeNull();
  }, RUN);
}, TIMEOUT);

async function make(method: string, path: string, body: object): Promise<Answer> {
  const answer = await line.api(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
}

const shown = async (id: string) => (await line.api('GET', `/test-runs/${id}`)).body.data;
const played = (name: Name) => run.cases.find((one: Answer) => one.name === name).runs[0];

describe('A test run over the phone', () => {
  test.each(Object.keys(CASES) as Name[])('passes the case of a caller who is %s', (name) => {
    expect(played(name), JSON.stringify(played(name))).toMatchObject({ status: 'passed' });
  });

  test('has a recording, in which a result is found at its time', async () => {
    const { recordingUrl, assertions } = played('keys');
    const again = (await shown(run.id)).cases[1].runs[0].recordingUrl;
    const recording = Buffer.from(await (await fetch(again)).arrayBuffer());
    const wav = parseWav(recording);
    const words = soundSegments(pickChannel(wav, 1), wav.sampleRateHz, 300);
    const starts = words.map(({ from }) => (from * 1000) / wav.sampleRateHz);
    const { atMs } = assertions.find(({ type }: Answer) => type === 'tool_called');

    expect(new URL(recordingUrl).pathname).toContain('/v1/recordings/');
    expect(wav.channels).toBe(2);
    // The first is the greeting's.
    expect(starts.slice(1).some((start) => Math.abs(start - atMs) < LATE_MS)).toBe(true);
    const report = await line.api('GET', `/test-runs/${run.id}/report`);
    expect(report.body).toContain(`src="data:audio/wav;base64,${recording.toString('base64')}"`);
  });

  test('places no call, calls no address, and counts in no limit', async () => {
    const { webhooks } = installation();
    const { sessionId } = played('transferred');
    const { body } = await line.api('GET', `/session-history/${sessionId}`);

    expect(body).toMatchObject({ test: true, channel: 'phone', status: 'ended' });
    expect(webhooks.forSession(sessionId)).toEqual([]);
    expect(webhooks.forSession(played('keys').sessionId)).toEqual([]);
    expect((await line.api('GET', '/calls')).body.data).toEqual([]);
    expect((await line.api('GET', '/calls?includeTests=true')).body.data).toHaveLength(5);
    expect((await line.api('GET', '/session-history')).body.results).toEqual([]);
    const { days } = (await line.api('GET', '/usage')).body;
    for (const day of days) expect(day).toMatchObject({ calls: 0, chats: 0, tokens: 0, characters: 0 });
  });
});
