import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { calling, saying, toolCall } from '../../support/fakeEngine.ts';
import { PROJECT_ID, SECRET_KEY, startTestServer, type TestServer } from '../../support/httpServer.ts';
import { detectLeaks } from '../../support/leaks.ts';

const CALL = toolCall('call_1', 'get_weather', { city: 'Taipei' });
const schema = z.object({ city: z.string() });

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const baseURL = () => `${server.url}/v1/projects/${PROJECT_ID}`;

describe('The Vercel AI SDK', () => {
  const model = () =>
    createOpenAICompatible({
      name: 'callway',
      baseURL: baseURL(),
      apiKey: SECRET_KEY,
      headers: { 'X-Session-ID': 's' },
      includeUsage: true,
    })('any');
  const tools = {
    get_weather: tool({
      description: 'Weather',
      inputSchema: schema,
      execute: async ({ city }) => `31 in ${city}`,
    }),
  };

  test('streams an answer and its usage', async () => {
    server.conversations.play(saying('Sun', 'ny'));
    const { textStream, usage } = streamText({ model: model(), prompt: 'Weather?' });
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    expect(pieces).toEqual(['Sun', 'ny']);
    expect(await usage).toMatchObject({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
  });

  test('makes a round trip through its tool', async () => {
    server.conversations.play(calling(CALL), saying('31 °C'));
    const { textStream, steps } = streamText({
      model: model(),
      prompt: 'Weather?',
      tools,
      stopWhen: stepCountIs(3),
    });
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    expect(pieces.join('')).toBe('31 °C');
    expect((await steps).map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(server.conversations.requests[1]?.request.input).toEqual({
      kind: 'tool_results',
      results: [{ toolCallId: 'call_1', name: 'get_weather', content: '31 in Taipei' }],
    });
    expect(server.conversations.requests[1]?.request.history).toBeUndefined();
  });
});

describe('LangChain', () => {
  const model = () =>
    new ChatOpenAI({
      model: 'any',
      apiKey: SECRET_KEY,
      maxRetries: 0,
      configuration: { baseURL: baseURL(), defaultHeaders: { 'X-Session-ID': 's' } },
    });
  const weather = langchainTool(async ({ city }: z.infer<typeof schema>) => `31 in ${city}`, {
    name: 'get_weather',
    description: 'Weather',
    schema,
  });

  test('makes a round trip through its tool, as a stream', async () => {
    server.conversations.play(calling(CALL), saying('31 °C'));
    const bound = model().bindTools([weather]);
    const question = new HumanMessage('Weather?');
    let called: AIMessageChunk | undefined;
    for await (const chunk of await bound.stream([question])) called = called ? called.concat(chunk) : chunk;
    expect(called?.tool_calls).toMatchObject([
      { id: 'call_1', name: 'get_weather', args: { city: 'Taipei' } },
    ]);
    const result = new ToolMessage({ tool_call_id: 'call_1', content: '31 in Taipei' });
    const answer = await bound.invoke([question, called ?? new AIMessageChunk(''), result]);
    expect(answer.text).toBe('31 °C');
    expect(server.conversations.requests[1]?.request).toMatchObject({
      input: { kind: 'tool_results', results: [{ toolCallId: 'call_1', content: '31 in Taipei' }] },
    });
    expect(server.conversations.requests[1]?.request.history).toBeUndefined();
  });
});

test('The openai client runs its tools automatically', async () => {
  server.conversations.play(calling(CALL), saying('31 °C'));
  const client = new OpenAI({ apiKey: SECRET_KEY, baseURL: baseURL(), maxRetries: 0 });
  const parameters = { type: 'object', properties: {} };
  const weather = { name: 'get_weather', description: 'Weather', parameters, parse: JSON.parse };
  const runner = client.chat.completions.runTools({
    model: 'any',
    messages: [{ role: 'user', content: 'Weather in Taipei?' }],
    stream: true,
    tools: [{ type: 'function', function: { ...weather, function: () => '31' } }],
  });
  expect(await runner.finalContent()).toBe('31 °C');
});
