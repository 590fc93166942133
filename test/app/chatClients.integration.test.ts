import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { convertToModelMessages, streamText, type UIMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestGateway, type TestGateway, type TestProject } from '../support/gateway.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scriptedUpstream.ts';
import { answerOrder, isVerdict, orderProject } from './support/orderAgent.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GUIDE = readFileSync(`${ROOT}/docs/guides/chat.md`, 'utf8');

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let project: TestProject;
let key: string;
beforeAll(async () => {
  upstream = await startScriptedUpstream(answerOrder);
  gateway = await startTestGateway({ env: { OPENAI_BASE_URL: upstream.baseUrl } });
  project = await orderProject(gateway);
  key = project.secretKey;
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

describe('A client that sends its history goes on with its session:', () => {
  test('Open WebUI, which has titles written between', async () => {
    const send = async (path: string, body?: string) => {
      const response = await fetch(`${gateway.url}${project.path}/openai/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      });
      expect(response.status).toBe(200);
      return { text: await response.text(), session: response.headers.get('x-session-id') };
    };
    const models = await send('/models');
    expect(JSON.parse(models.text).data.map(({ id }: { id: string }) => id)).toContain('callway');
    // As Python writes JSON: spaces after separators, and escapes for all that is not ASCII.
    const chatBody = (messages: string) =>
      `{"stream": true, "model": "callway", "messages": [${messages}], "stream_options": {"include_usage": true}}`;
    const hello = '{"role": "user", "content": "Caf\\u00e9 \\ud83d\\ude42"}';
    const first = await send('/chat/completions', chatBody(hello));
    expect(first.text).toContain('"usage":{"prompt_tokens":110');
    const title = await send(
      '/chat/completions',
      '{"model": "callway", "messages": [{"role": "user", "content": "### Task:\\nGenerate a title.\\n### Chat History:\\n<chat_history>\\nUSER: Caf\\u00e9\\nASSISTANT: Greeting\\n</chat_history>"}], "stream": false, "max_completion_tokens": 1000}',
    );
    const answered = '{"role": "assistant", "content": "Greeting: Caf\\u00e9 \\ud83d\\ude42."}';
    const order = '{"role": "user", "content": "I want to order"}';
    const second = await send(
      '/chat/completions',
      chatBody(`{"role": "system", "content": "The date is today."}, ${hello}, ${answered}, ${order}`),
    );
    expect(second.text).toContain('"content":"Order: "');
    expect(second.session).toBe(first.session);
    expect(title.session).not.toBe(first.session);
  });

  test('the route handler of useChat', async () => {
    const ids: (string | undefined)[] = [];
    const model = createOpenAICompatible({
      name: 'callway',
      baseURL: `${gateway.url}${project.path}/openai/v1`,
      apiKey: key,
      includeUsage: true,
    })('callway');
    const messages: UIMessage[] = [];
    for (const [index, words] of ['Hello', 'I want to order', 'A pizza'].entries()) {
      messages.push({ id: `u${index}`, role: 'user', parts: [{ type: 'text', text: words }] });
      const result = streamText({
        model,
        system: 'Be kind.',
        messages: await convertToModelMessages(messages),
      });
      const text = await result.text;
      ids.push((await result.response).headers?.['x-session-id']);
      const parts: UIMessage['parts'] = [{ type: 'step-start' }, { type: 'text', text, state: 'done' }];
      messages.push({ id: `a${index}`, role: 'assistant', parts });
      expect((await result.usage).totalTokens).toBeGreaterThan(0);
    }
    expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ text: 'Confirm: A pizza.' });
    expect(new Set(ids).size).toBe(1);
  });

  test('LangChain', async () => {
    const model = new ChatOpenAI({
      model: 'callway',
      apiKey: key,
      maxRetries: 0,
      configuration: { baseURL: `${gateway.url}${project.path}/openai/v1` },
    });
    upstream.clearRequests();
    const messages: BaseMessage[] = [new SystemMessage('Be kind.')];
    for (const words of ['Hello', 'I want to order', 'A pizza']) {
      messages.push(new HumanMessage(words));
      const { text } = await model.invoke(messages);
      messages.push(new AIMessage(text));
    }
    expect(messages.at(-1)?.text).toBe('Confirm: A pizza.');
    // A verdict and an answer each: nothing was walked.
    const verdicts = upstream.requests.map(({ body }) => isVerdict(body));
    expect(verdicts).toEqual([true, false, true, false, true, false]);
  });
});

describe('The chat guide', () => {
  /** Runs a program as its reader does, with `API` and `KEY` in the environment. */
  const run = async (program: string) => {
    const env = { ...process.env, API: gateway.url + project.path, KEY: project.secretKey };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', program],
      { cwd: ROOT, env, timeout: 60_000 },
    );
    return stdout;
  };
  const [streaming = '', history = ''] = [...GUIDE.matchAll(/```js\n(.*?)```/gs)].map(
    ([, code = '']) => code,
  );

  test('has a program that streams an answer', async () => {
    expect(await run(streaming)).toBe('Greeting: Hello.');
  });

  test('has a program that sends its history and stays on one session', async () => {
    const lines = (await run(history)).trim().split('\n');
    expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'Greeting: Hello.',
      'Order: I want to order.',
      'Confirm: A pizza.',
    ]);
    expect(new Set(lines.map((line) => line.split(' ')[0])).size).toBe(1);
  });

  test('names a base URL for Open WebUI that lists the models', async () => {
    const [, path] = /OPENAI_API_BASE_URL=\$API(\S+)/.exec(GUIDE) ?? [];
    const { status, body } = await gateway.api('GET', `${project.path}${path}/models`, { key });
    expect([status, body.object]).toEqual([200, 'list']);
  });
});
