import { expect, test } from 'vitest';
import type { McpServers } from '../../../src/agents/mcp/mcpServers.ts';
import { createTemplateCache } from '../../../src/agents/pathway/templates.ts';
import type { SchemaChecker } from '../../../src/agents/schemaChecker.ts';
import type { HttpTool } from '../../../src/agents/tool.ts';
import { ComputeShares } from '../../../src/base/async/computeShares.ts';
import { invalid } from '../../../src/base/errors.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { createToolRunner } from '../../../src/engine/tools/toolRunner.ts';
import type { GuardedHttpClient, GuardedRequest } from '../../../src/http/client.ts';
import { unused } from '../../support/unused.ts';

const FORM = { key: 'Content-Type', value: 'application/x-www-form-urlencoded' };
const PROPERTIES = { nights: { type: 'integer' }, refused: {} };

type Answer = Readonly<{ status?: number; body?: string }> | Error;

/** What a tool sends for a model's arguments, and what the model is told. */
async function call(
  http: Partial<HttpTool['http']>,
  args: object | string,
  {
    variables = {},
    answer = {},
    by = 'model',
    signal = new AbortController().signal,
  }: {
    readonly variables?: Record<string, unknown>;
    readonly answer?: Answer;
    readonly by?: 'model' | 'pathway';
    readonly signal?: AbortSignal;
  } = {},
) {
  const sent: GuardedRequest[] = [];
  const runner = createToolRunner({
    client: unused<GuardedHttpClient>('client', {
      async request(request) {
        sent.push(request);
        if (answer instanceof Error) throw answer;
        const { status = 200, body = '' } = answer;
        return { status, headers: {}, body: Buffer.from(body), durationMs: 7 } as never;
      },
    }),
    mcpServers: unused<McpServers>('mcpServers', { call: () => expect.unreachable() }),
    clock: systemClock,
    templates: createTemplateCache(),
    shares: new ComputeShares({ clock: systemClock }),
    schemas: unused<SchemaChecker>('schemas', {
      checkArguments: async (_project, _schema, args: { refused?: string }) => args.refused,
    }),
  });
  const tool: HttpTool = {
    id: 'tool-1',
    name: 'look',
    description: '',
    parameters: { type: 'object', properties: PROPERTIES },
    http: { method: 'POST', url: 'https://example.com/', headers: [], timeoutMs: 100, ...http },
    createdAt: '',
    updatedAt: '',
  };
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  const outcome = await runner.run(tool, text, variables, signal, { projectId: 'p', by });
  const [request] = sent;
  const type = request?.headers?.find(({ key }) => key.toLowerCase() === 'content-type')?.value;
  return { outcome, url: request?.url, body: request?.body, type };
}

const JSON_TYPE = 'application/json';
const get = { method: 'GET', url: 'https://example.com/{{ room }}?beds=2' } as const;
const rest = { a: 'x&y', none: null, list: [1, 2] };

test.each<[string, Partial<HttpTool['http']>, object, object]>([
  [
    'of GET in the query but for those of the URL',
    get,
    { room: 7, ...rest },
    { url: 'https://example.com/7?beds=2&a=x%26y&list=%5B1%2C2%5D', body: undefined, type: undefined },
  ],
  [
    'of DELETE too',
    { method: 'DELETE' },
    rest,
    { url: 'https://example.com/?a=x%26y&list=%5B1%2C2%5D', body: undefined },
  ],
  ['as JSON', {}, rest, { url: 'https://example.com/', body: JSON.stringify(rest), type: JSON_TYPE }],
  ['as a form', { headers: [FORM] }, rest, { body: 'a=x%26y&list=%5B1%2C2%5D', type: FORM.value }],
  [
    'in the body’s template',
    { bodyTemplate: '{"of": "{{ a }}"}' },
    rest,
    { body: '{"of":"x&y"}', type: JSON_TYPE },
  ],
])('A tool has its arguments %s', async (_what, http, args, expected) => {
  expect(await call(http, args)).toMatchObject(expected);
});

test.each<[string, Record<string, unknown>, 'model' | 'pathway', object]>([
  [
    'go before a model’s arguments of their names',
    { id: 'known', nights: '3' },
    'model',
    { id: 'known', nights: 3 },
  ],
  ['that are empty do not', { id: '', nights: null }, 'model', { id: 'guessed', nights: 99 }],
  ['go after what a node gives', { id: 'known', nights: '3' }, 'pathway', { id: 'guessed', nights: 99 }],
  ['are no arguments by themselves', { other: 1 }, 'model', { id: 'guessed', nights: 99 }],
])('A session’s variables %s', async (_what, variables, by, expected) => {
  const { body } = await call({}, { id: 'guessed', nights: 99 }, { variables, by });
  expect(JSON.parse(String(body))).toEqual(expected);
});

test('A session’s facts fill a template escaped, and no argument takes their place', async () => {
  const http = { url: 'https://example.com/{{ call.fromNumber }}', bodyTemplate: '{"name": "{{ name }}"}' };
  const variables = { call: { fromNumber: '+886912345678' } };
  const args = { name: 'A "B"', call: { fromNumber: 'forged' } };
  const { url, body } = await call(http, args, { variables, by: 'pathway' });
  expect(url).toBe('https://example.com/%2B886912345678');
  expect(JSON.parse(String(body))).toEqual({ name: 'A "B"' });
});

test.each<[string, Answer, object]>([
  [
    'the answer',
    { status: 201, body: '{"id":5}' },
    { ok: true, text: '{"id":5}', value: { id: 5 }, status: 201, durationMs: 7 },
  ],
  ['an answer that is no JSON', { body: 'sent' }, { ok: true, text: 'sent', status: 200, durationMs: 7 }],
  [
    'an error status',
    { status: 300, body: 'elsewhere' },
    { ok: false, text: 'HTTP 300: elsewhere', status: 300, durationMs: 7 },
  ],
  [
    'why the request failed',
    invalid('timeout', 'no answer within 100 ms'),
    { ok: false, text: 'no answer within 100 ms' },
  ],
  ['no inner error', new Error('secret'), { ok: false, text: 'The tool failed' }],
])('A model is told %s', async (_what, answer, expected) => {
  expect((await call({}, {}, { answer })).outcome).toEqual(expected);
});

test.each<[string, Partial<HttpTool['http']>, object | string, string]>([
  ['are cut off', {}, '{"a":', 'not a JSON object'],
  ['are a list', {}, '[1]', 'not a JSON object'],
  ['do not fit its schema', {}, { refused: 'no /a' }, 'do not fit the tool: no /a'],
  ['do not fit a header', { headers: [{ key: 'x-a', value: '{{ a }}' }] }, { a: 'b\r\nc: d' }, 'line break'],
  [
    'make a type whose body has no templates',
    { bodyTemplate: '{{ a }}', headers: [{ key: 'content-type', value: '{{ a }}' }] },
    { a: 'image/png' },
    'image/png cannot be made',
  ],
])('A tool whose arguments %s is not run, and the model is told', async (_what, http, args, problem) => {
  const { outcome, url } = await call(http, args);
  expect(outcome).toEqual({ ok: false, text: expect.stringContaining(problem) });
  expect(url).toBeUndefined();
});

test('A tool without arguments runs', async () => {
  expect(await call({}, ' ')).toMatchObject({ outcome: { ok: true }, body: '{}' });
});

test('An aborted turn is no result', async () => {
  const gone = new Error('gone');
  await expect(call({}, {}, { answer: gone, signal: AbortSignal.abort() })).rejects.toBe(gone);
});

test('A result over 16 KB is cut between characters, with a note to the model', async () => {
  const { outcome } = await call({}, {}, { answer: { body: `a${'é'.repeat(10_000)}` } });
  expect(outcome.text).toBe(
    `a${'é'.repeat(8_191)}\n[Cut here: this is the beginning, 16384 of 20001 bytes.]`,
  );
});
