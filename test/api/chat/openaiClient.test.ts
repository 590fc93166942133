import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { ModelError } from '../../../src/models/ports/modelError.ts';
import { calling, saying, toolCall } from '../../support/fakeEngine.ts';
import { PROJECT_ID, SECRET_KEY, startTestServer, type TestServer } from '../../support/httpServer.ts';
import { detectLeaks } from '../../support/leaks.ts';

const QUESTION: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'Weather in Taipei?' };

let assertNoLeaks: () => Promise<void>;
let server: TestServer;
beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  server = await startTestServer();
});
afterAll(async () => {
  await server.close();
  await assertNoLeaks();
});
beforeEach(() => server.conversations.forget());

describe.each(['/project', '/v1/projects'])('The openai client at %s', (family) => {
  const client = () =>
    new OpenAI({
      apiKey: SECRET_KEY,
      baseURL: `${server.url}${family}/${PROJECT_ID}`,
      maxRetries: 0,
      defaultHeaders: { 'X-Session-ID': 's' },
    });
  const ask = { model: 'any', messages: [QUESTION] };

  test('gets an answer', async () => {
    server.conversations.play(saying('Sunny'));
    const completion = await client().chat.completions.create(ask);
    expect(completion.choices[0]?.message.content).toBe('Sunny');
    expect(completion.usage?.total_tokens).toBe(-1);
  });

  test('streams an answer', async () => {
    server.conversations.play(saying('Sun', 'ny ☀'));
    const stream = client().chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    const pieces: string[] = [];
    stream.on('content', (delta) => pieces.push(delta));
    const completion = await stream.finalChatCompletion();
    expect(pieces.filter((piece) => piece !== '')).toEqual(['Sun', 'ny ☀']);
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Sunny ☀' },
    });
    expect(completion.usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
  });

  test('runs its tools automatically', async () => {
    server.conversations.play(
      calling(toolCall('call_1', 'get_weather', { city: 'Taipei' })),
      saying('31 °C'),
    );
    const runner = client().chat.completions.runTools({
      ...ask,
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            parameters: { type: 'object', properties: {} },
            description: 'Weather',
            parse: JSON.parse,
            function: () => '31',
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('31 °C');
  });

  test('stops the model when it aborts a stream', async () => {
    server.conversations.play(async function* (_request, _session, signal) {
      yield { type: 'text', text: 'Once' };
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const stream = await client().chat.completions.create({ ...ask, stream: true });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break;
    }
    await expect.poll(() => server.conversations.aborted.length).toBe(1);
  });

  test('reads errors before and within a stream', async () => {
    const broken = new ModelError('model_malformed', 'The model broke off', { beforeFirstToken: false });
    server.conversations.play(async function* () {
      yield { type: 'text', text: 'Once' };
      throw broken;
    });
    const read = async () => {
      for await (const _ of await client().chat.completions.create({ ...ask, stream: true }));
    };
    await expect(read()).rejects.toMatchObject({ code: 'model_malformed', message: 'The model broke off' });
    await expect(client().chat.completions.create({ ...ask, messages: [] })).rejects.toThrow(
      OpenAI.BadRequestError,
    );
    const stranger = client().withOptions({ apiKey: 'sk_wrong' });
    await expect(stranger.chat.completions.create(ask)).rejects.toThrow(OpenAI.AuthenticationError);
  });

  test('lists the models', async () => {
    const ids: string[] = [];
    for await (const { id } of client().models.list()) ids.push(id);
    expect(ids).toEqual(['scripted-model', 'vendor/large']);
    expect((await client().models.retrieve('vendor/large')).id).toBe('vendor/large');
  });
});
