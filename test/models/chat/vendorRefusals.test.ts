import pino from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { Lifecycle } from '../../../src/app/lifecycle.ts';
import type { ThreadContext } from '../../../src/app/node/threadContext.ts';
import { buildChat } from '../../../src/app/services/providers.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { ProjectCredentialCache } from '../../../src/models/selection/projectCredentialCache.ts';
import { createSessionMetrics } from '../../../src/observability/metrics/sessions.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import {
  failing,
  type RequestBody,
  type Script,
  saying,
  startScriptedUpstream,
} from '../../support/scriptedUpstream.ts';

let lifecycle = new Lifecycle(() => undefined);
afterEach(async () => {
  await lifecycle.close();
  lifecycle = new Lifecycle(() => undefined);
});

async function chatOf(
  env: Readonly<Record<string, string>>,
  addressOf: (origin: string) => object,
  strict: Strict,
) {
  const upstream = await startScriptedUpstream(strict);
  onTestFinished(upstream.close);
  const lines: { level: number; model?: string; parameter?: string; refusal?: string }[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const origin = new URL(upstream.baseUrl).origin;
  const context: unknown = {
    config: loadConfig({ ...env, ...addressOf(origin) }),
    clock: systemClock,
    logger,
    sessionMetrics: createSessionMetrics(new Registry()),
    lifecycle,
    makeId: () => 'id',
    credentials: new ProjectCredentialCache(
      async () => [],
      systemClock,
      () => undefined,
    ),
    targetPolicy: { allowInsecureLoopback: true },
    usage: { add: () => undefined },
    warn: () => undefined,
  };
  const models = await buildChat(context as ThreadContext);
  const ask = async (request: Omit<ChatRequest, 'messages'> & Partial<ChatRequest>) => {
    const { signal } = new AbortController();
    const messages = request.messages ?? [{ role: 'user' as const, content: 'Hi.' }];
    const events = await arrayFromAsync(models.chat.stream({ ...request, messages }, signal));
    return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  };
  return { ask, models, upstream, lines };
}

type Strict = (body: RequestBody) => Script;

const has = (body: RequestBody, ...fields: string[]) => fields.filter((field) => field in body);

/** As OpenAI answers for gpt-5.6 and gpt-6. */
const openAi: Strict = (body) => {
  const isReasoning = body.reasoning_effort !== 'none';
  const refuse = (param: string, message: string): Script => ({
    status: 400,
    json: { error: { message, type: 'invalid_request_error', param, code: null } },
  });
  if ('max_tokens' in body)
    return refuse(
      'max_tokens',
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
  if ('tools' in body && isReasoning)
    return refuse(
      'reasoning_effort',
      `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
    );
  if ('temperature' in body && body.temperature !== 1 && isReasoning)
    return refuse(
      'temperature',
      `Unsupported value: 'temperature' does not support ${body.temperature} with this model. Only the default (1) value is supported.`,
    );
  return { steps: saying('Yes.') };
};

/** As Google answers at its compatible endpoint. */
const google: Strict = (body) => {
  const unknown = has(body, 'seed', 'frequency_penalty', 'user', 'service_tier');
  const lines = unknown.map(
    (name) => `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
  );
  if (unknown.length > 0)
    return {
      status: 400,
      json: [{ error: { code: 400, message: lines.join('\n'), status: 'INVALID_ARGUMENT' } }],
    };
  if (body.reasoning_effort === 'none')
    return {
      status: 400,
      json: [
        {
          error: {
            code: 400,
            message: 'Thinking can’t be disabled for this model.',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
    };
  return { steps: saying('Yes.') };
};

const event = (data: { type: string; [field: string]: unknown }) => ({
  send: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`,
});

/** As Anthropic answers for Opus 5.5, Sonnet 5.5 and Haiku 5.5. */
const anthropic: Strict = (body) => {
  const refuse = (message: string): Script => ({
    status: 400,
    json: { type: 'error', error: { type: 'invalid_request_error', message } },
  });
  const [sampled] = has(body, 'temperature', 'top_p');
  if (sampled) return refuse(`\`${sampled}\` is deprecated for this model.`);
  const { type } = (body.tool_choice ?? {}) as { type?: string };
  if (type === 'tool' || type === 'any')
    return refuse('tool_choice: type "tool" and "any" are not supported for this model.');
  const { effort } = (body.output_config ?? {}) as { effort?: string };
  if (effort) return refuse('This model does not support the effort parameter.');
  return {
    steps: [
      event({ type: 'message_start', message: { model: String(body.model), usage: {} } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Yes.' } }),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} }),
      event({ type: 'message_stop' }),
    ],
  };
};

const VENDORS = [
  ['openai', { OPENAI_API_KEY: 'x' }, (origin: string) => ({ OPENAI_BASE_URL: `${origin}/v1` }), openAi],
  [
    'anthropic',
    { CHAT_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'x' },
    (origin: string) => ({ ANTHROPIC_BASE_URL: origin }),
    anthropic,
  ],
  [
    'google',
    { CHAT_PROVIDER: 'google', GOOGLE_API_KEY: 'x' },
    (origin: string) => ({ GOOGLE_BASE_URL: origin }),
    google,
  ],
] as const;

const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
const tools = [{ name: 'move_to', parameters: schema }];
/** What the engine, its tests and the clients of chats ask for. */
const REQUESTS: readonly (readonly [string, Partial<ChatRequest>])[] = [
  ['an answer with tools', { purpose: 'answer_and_route', tools }],
  ['an answer with all that a client may set', { tools, temperature: 0.2, maxOutputTokens: 50 }],
  ['a forced tool', { tools, toolChoice: { name: 'move_to' } }],
  ['any tool', { tools, toolChoice: 'required', parallelToolCalls: false }],
  ['a reasoning effort beside tools', { tools, passthrough: { reasoning_effort: 'low' } }],
  ['a route', { purpose: 'route', temperature: 0, jsonSchema: { name: 'route', schema } }],
  ['a judge', { purpose: 'judge', temperature: 0, passthrough: { seed: 7 } }],
  ['a persona', { purpose: 'persona', passthrough: { seed: 7, user: 'u', top_p: 0.5 } }],
];

describe.each(VENDORS)('The current models of %s', (_, env, addressOf, strict) => {
  it.each(['smart', 'balance', 'turbo'] as const)('answer every request in the mode %s', async (mode) => {
    const { ask, models, upstream } = await chatOf(env, addressOf, strict);
    const model = models[mode];
    for (const [what, request] of REQUESTS)
      expect([what, await ask({ ...request, model })]).toEqual([what, 'Yes.']);
    const sent = upstream.requests.length;
    for (const [, request] of REQUESTS) await ask({ ...request, model });
    expect(upstream.requests.length - sent).toBe(REQUESTS.length);
    expect(new Set(upstream.requests.map(({ body }) => body.model))).toEqual(new Set([model]));
  });
});

describe('A refused parameter', () => {
  const [[, env, addressOf]] = VENDORS;

  it('is told in the log once, by the model and its name', async () => {
    const { ask, lines } = await chatOf(env, addressOf, openAi);
    const passthrough = { reasoning_effort: 'low' };
    for (const _ of [1, 2]) await ask({ model: 'gpt-6-sol', temperature: 0.2, passthrough });
    await ask({ model: 'gpt-6-luna', temperature: 0.2, passthrough });
    expect(lines).toMatchObject([
      {
        level: 40,
        endpoint: 'openai',
        model: 'gpt-6-sol',
        parameter: 'temperature',
        refusal: expect.stringContaining('does not support 0.2'),
        msg: 'chat model refuses a parameter, asked without it from now on',
      },
      { model: 'gpt-6-luna', parameter: 'temperature' },
    ]);
  });

  it('gets a model told in words which tool to call', async () => {
    const { ask, upstream } = await chatOf(env, addressOf, (body) =>
      typeof body.tool_choice === 'object'
        ? {
            status: 400,
            json: {
              error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
            },
          }
        : { steps: saying('Yes.') },
    );
    await ask({ model: 'local', tools, toolChoice: { name: 'move_to' } });
    expect(upstream.requests.at(-1)?.body).toMatchObject({ tool_choice: 'auto' });
    expect(JSON.stringify(upstream.requests.at(-1)?.body.messages)).toContain('by calling the tool move_to');
  });

  const request: Partial<ChatRequest> = {
    ...{ tools, temperature: 0.2, maxOutputTokens: 50, parallelToolCalls: false },
    responseFormat: { type: 'json_object' },
    passthrough: {
      seed: 7,
      user: 'u',
      stop: ['x'],
      reasoning_effort: 'low',
      frequency_penalty: 1,
      logit_bias: {},
    },
  };
  const vllm = (field: string) =>
    `[{'type': 'extra_forbidden', 'loc': ('body', '${field}'), 'msg': 'Extra inputs are not permitted', 'input': 7}]`;
  it.each<[string, string, Script]>([
    ['OpenAI', 'seed', failing(400, "Unsupported parameter: 'seed' is not supported with this model.")],
    [
      'Azure',
      'parallel_tool_calls',
      failing(400, 'Unrecognized request argument supplied: parallel_tool_calls'),
    ],
    ['vLLM', 'seed', { status: 400, json: { object: 'error', message: vllm('seed'), code: 400 } }],
    [
      'Mistral',
      'user',
      {
        status: 422,
        json: {
          object: 'error',
          message: {
            detail: [
              { type: 'extra_forbidden', loc: ['body', 'user'], msg: 'Extra inputs are not permitted' },
            ],
          },
          type: 'invalid_request_error',
        },
      },
    ],
    [
      'FastAPI',
      'stop',
      { status: 422, json: { detail: [{ loc: ['body', 'stop'], msg: 'extra fields not permitted' }] } },
    ],
    [
      'Groq',
      'reasoning_effort',
      failing(400, "property 'reasoning_effort' is unsupported, did you mean 'reasoning_format'?"),
    ],
    [
      'Groq, in backticks',
      'reasoning_effort',
      failing(400, '`reasoning_effort` must be one of `none` or `default`'),
    ],
    [
      'xAI',
      'frequency_penalty',
      {
        status: 400,
        json: {
          code: 'invalid-argument',
          error: 'Model grok-4 does not support parameter frequencyPenalty.',
        },
      },
    ],
    ['Ollama', 'reasoning_effort', failing(400, '"llama3.1:8b" does not support thinking')],
    [
      'OpenRouter',
      'temperature',
      {
        status: 400,
        json: {
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: { raw: '{"error":{"message":"`temperature` is deprecated for this model."}}' },
          },
        },
      },
    ],
    [
      'LiteLLM',
      'parallel_tool_calls',
      failing(400, "UnsupportedParamsError: x does not support parameters: {'parallel_tool_calls': False}"),
    ],
    [
      'Groq, with tools',
      'response_format',
      failing(400, 'json mode cannot be combined with tool/function calling'),
    ],
    ['Anthropic’s gateway', 'temperature', failing(400, 'temperature: Extra inputs are not permitted')],
    [
      'Ollama, as its own failure',
      'reasoning_effort',
      failing(500, 'think value "low" is not supported for this model'),
    ],
    [
      'Google',
      'logit_bias',
      { status: 400, json: [{ error: { message: 'Unknown name "logit_bias": Cannot find field.' } }] },
    ],
    [
      'a server that sends text',
      'temperature',
      { status: 400, headers: { 'content-type': 'text/plain' }, json: 'temperature is not allowed' },
    ],
    ['a server that names nothing', 'temperature', failing(400, 'Bad Request')],
  ])('of %s, %s, is left out and nothing else', async (_, field, refusal) => {
    const { ask, upstream } = await chatOf(env, addressOf, (body) =>
      field in body ? refusal : { steps: saying('Yes.') },
    );
    expect(await ask({ ...request, model: 'm' })).toBe('Yes.');
    const kept = Object.keys(upstream.requests[0]?.body ?? {}).filter((name) => name !== field);
    expect(kept.filter((name) => !(name in (upstream.requests.at(-1)?.body ?? {})))).toEqual(
      _ === 'a server that names nothing' ? ['stream_options'] : [],
    );
    await ask({ ...request, model: 'm' });
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty(field);
  });

  it.each([
    ['a limit that it has under neither name', 'maxOutputTokens', ['max_tokens', 'max_completion_tokens']],
    ['every choice of a tool', 'toolChoice', ['tool_choice']],
  ])('may be %s', async (_, name, refused) => {
    const { ask, upstream } = await chatOf(env, addressOf, (body) => {
      const [field] = has(body, ...refused);
      const message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens', not 'tool_choice'.";
      return field
        ? failing(400, name === 'toolChoice' ? 'tool_choice is not supported' : message)
        : { steps: saying('Yes.') };
    });
    expect(await ask({ ...request, toolChoice: 'required', model: 'm' })).toBe('Yes.');
    expect(has(upstream.requests.at(-1)?.body ?? {}, ...refused)).toEqual([]);
  });

  it('is left out each once, also where a model refuses one after the other, and then the failure is told', async () => {
    const { ask, upstream } = await chatOf(env, addressOf, (body) => {
      const [field] = has(
        body,
        'seed',
        'temperature',
        'parallel_tool_calls',
        'frequency_penalty',
        'max_tokens',
      );
      return failing(400, field ? `Unknown parameter: '${field}'.` : "Invalid 'messages': too many.");
    });
    await expect(ask({ ...request, model: 'm' })).rejects.toThrow("Invalid 'messages'");
    expect(upstream.requests.length).toBeLessThan(12);
  });
});
