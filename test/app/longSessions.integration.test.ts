import { expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../support/gateway.ts';

const CHARACTERS = 1_500_000;
const long = (text: string) => ({ role: 'user', content: text.padEnd(CHARACTERS, ' and so on') });
const user = (content: string) => ({ role: 'user', content });

const gateway = sharedGateway({ env: { CHAT_PROVIDER: 'local' } });

async function chat({ path, developerKey: key }: TestProject, body: object) {
  return await gateway().api('POST', `${path}/chat/completions`, { key, body });
}

test('A chat request that would exceed the session limit is refused, and the session is unchanged', async () => {
  const project = await gateway().createProject();
  const say = (message: object) => chat(project, { session_id: 'full', messages: [message] });
  expect((await say(long('one'))).status).toBe(200);
  expect((await say(long('two'))).status).toBe(200);
  const refused = await say(long('three'));
  expect([refused.status, refused.body.code]).toEqual([413, 'session_too_large']);
  expect((await say(user('four'))).status).toBe(200);
  const { body } = await gateway().api('GET', `${project.path}/sessions/full`, { key: project.developerKey });
  const said = body.state.messages.filter(({ role }: { role: string }) => role === 'user');
  expect(said.map(({ content }: { content: string }) => content.slice(0, 4).trim())).toEqual([
    'one',
    'two',
    'four',
  ]);
});

test('A client that names no session continues in a new session', async () => {
  const project = await gateway().createProject();
  const messages: unknown[] = [];
  const sessions: string[] = [];
  for (const content of ['one', 'two', 'three'].map((word) => word.padEnd(1_350_000, ' and so on'))) {
    messages.push(user(content));
    const { status, body } = await chat(project, { messages });
    expect(status).toBe(200);
    messages.push(body.choices[0].message);
    sessions.push(body.session_id);
  }
  expect(sessions[1]).toBe(sessions[0]);
  expect(sessions[2]).not.toBe(sessions[0]);
});
