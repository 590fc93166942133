import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { startTwoGateways, type TestProject } from '../support/gateway.ts';
import {
  calling,
  type ScriptedUpstream,
  saying,
  startScriptedUpstream,
} from '../support/scriptedUpstream.ts';
import { answerOrder, isVerdict, type Message, messagesOf, orderProject } from './support/orderAgent.ts';

let upstream: ScriptedUpstream;
let nodes: Awaited<ReturnType<typeof startTwoGateways>>;
let project: TestProject;
/** Each test talks with a key of its own, so that no conversation is another test's. */
let key: string;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  nodes = await startTwoGateways({ OPENAI_BASE_URL: upstream.baseUrl });
  project = await orderProject(nodes.first);
}, 120_000);
afterAll(async () => {
  await nodes?.stop();
  await upstream?.close();
});
beforeEach(async () => {
  ({ key } = await nodes.first.createKey(project));
  upstream.clearRequests();
  upstream.answerWith(answerOrder);
});

const user = (content: unknown): Message => ({ role: 'user', content });
const agent = (content: string): Message => ({ role: 'assistant', content });
const spoken = () => upstream.requests.filter(({ body }) => !isVerdict(body));

interface Sent {
  readonly node?: 'first' | 'second';
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly more?: object;
}

/** Asks a node for an answer without naming a session. */
async function ask(messages: readonly Message[], { node = 'first', headers = {}, more, ...sent }: Sent = {}) {
  const { status, body } = await nodes[node].api('POST', `${project.path}/openai/v1/chat/completions`, {
    key: sent.key ?? key,
    headers,
    body: { model: 'callway', messages, ...more },
  });
  expect(status).toBe(200);
  const { content, tool_calls } = body.choices[0].message;
  return {
    text: content as string,
    calls: tool_calls,
    session: body.session_id as string,
    usage: body.usage,
  };
}

/** A client that keeps the conversation and sends it whole each time. */
function chat(sent: Sent = {}) {
  const messages: Message[] = [];
  return {
    messages,
    async say(words: string, more: Sent = {}) {
      messages.push(user(words));
      const answered = await ask(messages, { ...sent, ...more });
      messages.push(agent(answered.text));
      return answered;
    },
  };
}

async function history(session: string) {
  const { status, body } = await nodes.first.api('GET', `${project.path}/session-history/${session}`, {
    key: project.developerKey,
  });
  expect(status).toBe(200);
  return body.messages.map(({ role, content }: Message) => [role, content]);
}

describe('A client that names no session', () => {
  test('goes on with its session on any node, wherever its key is known', async () => {
    const client = chat();
    const first = await client.say('Hello');
    const second = await client.say('I want to order', { node: 'second' });
    const third = await client.say('A pizza');
    expect([first.text, second.text, third.text]).toEqual([
      'Greeting: Hello.',
      'Order: I want to order.',
      'Confirm: A pizza.',
    ]);
    expect(new Set([first.session, second.session, third.session]).size).toBe(1);
    expect(await history(first.session)).toEqual(client.messages.map(({ role, content }) => [role, content]));
    const reference = await nodes.second.api('POST', `${project.path}/chat/completions`, {
      key,
      body: { messages: [...client.messages, user('Thanks')] },
    });
    expect(reference.body.session_id).toBe(first.session);
  });

  test('goes on with a session that it named before, but not with another key’s', async () => {
    const messages = [user('Hello')];
    const named = await ask(messages, { headers: { 'x-session-id': 'named-1' } });
    const next = [...messages, agent(named.text), user('More')];
    const stranger = await nodes.first.createKey(project);
    expect((await ask(next, { key: stranger.key })).session).not.toBe('named-1');
    expect((await ask(next)).session).toBe('named-1');
    // Only what is new, by name; then everything, without it.
    const third = await ask([user('And more')], { headers: { 'x-session-id': 'named-1' } });
    const all = [...next, agent('Greeting: More.'), user('And more'), agent(third.text), user('Bye')];
    expect((await ask(all)).session).toBe('named-1');
  });

  test('gets its tools’ results into the session that called them', async () => {
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }];
    upstream.answerWith((body) => {
      const isAnswer = messagesOf(body).at(-1)?.role === 'tool';
      return isVerdict(body) || isAnswer ? answerOrder(body) : { steps: calling('get_weather', '{}') };
    });
    const question = user('Weather?');
    const called = await ask([question], { more: { tools } });
    const call = { role: 'assistant', content: null, tool_calls: called.calls };
    const result = { role: 'tool', tool_call_id: called.calls[0].id, content: '31' };
    const answered = await ask([question, call, result], { more: { tools } });
    upstream.answerWith(answerOrder);
    const thanked = await ask([question, call, result, agent(answered.text), user('Thanks')], {
      more: { tools },
    });
    expect([answered.session, thanked.session]).toEqual([called.session, called.session]);
    expect(thanked.text).toBe('Greeting: Thanks.');
  });
});

describe('A history that continues no session', () => {
  test('begins one at the node that it leads to, and no model speaks for it', async () => {
    const client = chat();
    await client.say('Hello');
    const { session } = await client.say('I want to order');
    upstream.clearRequests();
    const edited = [
      user('Hello'),
      agent('Greeting: Hello.'),
      user('Let me order'),
      agent('What would you like?'),
    ];
    const branch = await ask([...edited, user('A pizza')]);
    expect(branch.session).not.toBe(session);
    expect(branch.text).toBe('Confirm: A pizza.');
    expect(spoken()).toHaveLength(1);
    expect(await history(branch.session)).toEqual([
      ...edited.map(({ role, content }) => [role, content]),
      ['user', 'A pizza'],
      ['assistant', branch.text],
    ]);
    // Both go on.
    const next = await ask([...edited, user('A pizza'), agent(branch.text), user('Thanks')]);
    expect(next.session).toBe(branch.session);
    expect((await client.say('A pizza')).session).toBe(session);
  });
});

describe('Requests at the same time, and once more', () => {
  test('two of the same history continue one session each, and mix nothing', async () => {
    const client = chat();
    const { session } = await client.say('Hello');
    const both = await Promise.all([
      ask([...client.messages, user('I want to order')]),
      ask([...client.messages, user('I want to order')], { node: 'second' }),
    ]);
    expect(both.map(({ text }) => text)).toEqual(['Order: I want to order.', 'Order: I want to order.']);
    expect(both.filter((one) => one.session === session)).toHaveLength(1);
    for (const one of both) expect(await history(one.session)).toHaveLength(4);
  });

  test.each([
    ['first', 'before the answer', []],
    ['later', 'before the answer', ['Hello']],
    ['first', 'within the answer', []],
    ['later', 'within the answer', ['Hello']],
  ])('a %s request that was given up %s is retried on its session', async (_, when, before) => {
    const client = chat();
    for (const words of before) await client.say(words);
    const [known] = await sessions();
    upstream.answerWith((body) => {
      if (isVerdict(body)) return answerOrder(body);
      return when === 'before the answer'
        ? { instead: 'hang' }
        : { steps: [...saying('Half of').slice(0, 2), 'hang'] };
    });
    upstream.clearRequests();
    const messages = [...client.messages, user('Anyone?')];
    await giveUp(messages, when === 'within the answer');
    upstream.answerWith(answerOrder);
    const retried = await ask(messages);
    expect(retried.text).toBe('Greeting: Anyone?.');
    expect(await sessions()).toEqual([retried.session]);
    if (known) expect(retried.session).toBe(known);
    const next = await ask([...messages, agent(retried.text), user('Thanks')]);
    expect(next.session).toBe(retried.session);
  });

  test('an answer that the client stopped is continued with what the client has of it', async () => {
    const client = chat();
    const { session } = await client.say('Hello');
    upstream.answerWith((body) =>
      isVerdict(body) ? answerOrder(body) : { steps: [...saying('Once upon a time').slice(0, 2), 'hang'] },
    );
    await giveUp([...client.messages, user('Tell me')], true);
    upstream.answerWith(answerOrder);
    const next = [...client.messages, user('Tell me'), agent('Once upon'), user('Shorter')];
    const shorter = await ask(next);
    expect(shorter.session).toBe(session);
    expect((await ask([...next, agent(shorter.text), user('Thanks')])).session).toBe(session);
  });

  test('a request after a failure of the model is on the session that the failure left', async () => {
    upstream.answerWith({ status: 400 });
    const failed = await nodes.first.api('POST', `${project.path}/openai/v1/chat/completions`, {
      key,
      body: { messages: [user('Hello')] },
    });
    expect([failed.status, failed.body.error.code]).toEqual([502, 'model_failed']);
    upstream.answerWith(answerOrder);
    const { session } = await ask([user('Hello')]);
    expect(await sessions()).toEqual([session]);
  });

  /** Sessions of the test's own words; each test has them for itself. */
  async function sessions(): Promise<string[]> {
    const { body } = await nodes.first.api('GET', `${project.path}/session-history?limit=200&status=active`, {
      key: project.developerKey,
    });
    return body.results.map(({ sessionId }: { sessionId: string }) => sessionId);
  }

  beforeEach(async () => {
    for (const session_id of await sessions())
      await nodes.first.api('DELETE', `${project.path}/sessions`, {
        key: project.developerKey,
        body: { session_id },
      });
  });

  /** Streams until the model is at work, or has said something, and disconnects. */
  async function giveUp(messages: readonly Message[], afterWords: boolean): Promise<void> {
    const leaving = new AbortController();
    const request = fetch(`${nodes.first.url}${project.path}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'callway', messages, stream: true }),
      signal: leaving.signal,
    });
    if (afterWords) await (await request).body?.getReader().read();
    else await expect.poll(() => spoken().length, { timeout: 10_000 }).toBe(1);
    const given = spoken().at(-1);
    leaving.abort();
    await request.catch(() => undefined);
    await given?.outcome;
    await expect
      .poll(async () => {
        const { body } = await nodes.first.api('GET', `${project.path}/session-history?limit=1`, {
          key: project.developerKey,
        });
        const detail = await nodes.first.api(
          'GET',
          `${project.path}/session-history/${body.results[0].sessionId}`,
          { key: project.developerKey },
        );
        return JSON.stringify([detail.body.messages.at(-1), detail.body.events.at(-1)]);
      })
      .toContain('interrupted');
  }
});
