import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { encodeMessage } from '../../../../src/infra/postgres/embedded/messages.ts';
import { SharedSession } from '../../../../src/infra/postgres/embedded/sharedSession.ts';

/** A session whose database keeps the order of the requests; `BEGIN` and `END` are its transactions. */
function createSession() {
  const executed: string[] = [];
  let status = 'I';
  const session = new SharedSession<string>(async (messages) => {
    const text = Buffer.from(messages).toString();
    executed.push(text.includes('ROLLBACK') ? 'ROLLBACK' : text);
    await turn();
    if (text === 'BEGIN') status = 'T';
    if (text === 'END' || text.includes('ROLLBACK')) status = 'I';
    return encodeMessage('Z', Buffer.from(status));
  });
  const run = (owner: string, text: string) => session.run(owner, Buffer.from(text));
  return { executed, run, leave: (owner: string) => session.leave(owner) };
}

test('Requests are executed one at a time, in their order', async () => {
  const { executed, run } = createSession();
  await Promise.all([run('a', '1'), run('b', '2'), run('c', '3'), run('d', '4')]);
  expect(executed).toEqual(['1', '2', '3', '4']);
});

test('A transaction holds the session until its end', async () => {
  const { executed, run } = createSession();
  await run('a', 'BEGIN');
  const others = [run('b', 'BEGIN'), run('c', '1')];
  await run('a', '2');
  await run('a', 'END');
  await run('b', 'END');
  await Promise.all(others);
  expect(executed).toEqual(['BEGIN', '2', 'END', 'BEGIN', 'END', '1']);
});

test('An owner that leaves in a transaction is rolled back, and the next one continues', async () => {
  const { executed, run, leave } = createSession();
  await run('a', 'BEGIN');
  const next = run('b', '1');
  await leave('a');
  await next;
  expect(executed).toEqual(['BEGIN', 'ROLLBACK', '1']);
});

test('A request whose owner leaves before its turn is not executed', async () => {
  const { executed, run, leave } = createSession();
  await run('a', 'BEGIN');
  void run('b', '1');
  const next = run('c', '2');
  await leave('b');
  await run('a', 'END');
  await next;
  expect(executed).toEqual(['BEGIN', 'END', '2']);
});

test('An owner that holds nothing leaves without a trace', async () => {
  const { executed, run, leave } = createSession();
  await run('a', '1');
  await leave('a');
  expect(executed).toEqual(['1']);
});
