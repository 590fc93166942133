import { expect, test } from 'vitest';
import { violationsOf } from '../../../src/calls/call.ts';
import { answerCall, CALL, leg, loseStream, settle, t, useRunner } from './support/runnerRig.ts';

useRunner();

const owed = (id: string, withinSeconds: number) => ({ id, withinSeconds, machines: true });
const call = { ...CALL, disclosures: [owed('who', 3), owed('why', 3), owed('recorded', 9)] };

/** The agent tells, so long after the answer, that the person has heard it. */
async function hear(id: string, atMs: number, messageMs?: number): Promise<void> {
  await t.clock.advance(atMs - (t.clock.now() - answeredAtMs));
  leg().mediaEvents.emit('command', { kind: 'disclosed', id, messageMs });
  await settle();
}
let answeredAtMs = 0;
async function answer(): Promise<void> {
  t.stored = call;
  await answerCall(undefined, undefined, call);
  answeredAtMs = t.clock.now();
}
const ended = () => violationsOf({ ...t.stored, status: 'completed', answeredAt: 'then' });

test('A disclosure is kept as heard with its time, and one that was heard late stays a violation', async () => {
  await answer();
  expect([t.unsaid, ended().length]).toEqual([['who', 'why', 'recorded'], 3]);
  await hear('who', 3000);
  await hear('why', 3001);
  await hear('who', 3500);
  expect(t.changeEvents).toMatchObject([
    { type: 'disclosure_heard', data: { id: 'who', atMs: 3000 } },
    { type: 'disclosure_heard', data: { id: 'why', atMs: 3001 } },
  ]);
  expect(ended()).toEqual([
    { kind: 'disclosure', id: 'why' },
    { kind: 'disclosure', id: 'recorded' },
  ]);
});

test('In the message on a machine the time counts from its beginning, also where the greeting was spoken over', async () => {
  await answer();
  await hear('who', 3500);
  await hear('who', 15_000, 3000);
  await hear('why', 20_000, 3001);
  expect(t.changeEvents).toMatchObject([
    { data: { id: 'who', atMs: 3500 } },
    { data: { id: 'who', atMs: 15_000 } },
    { data: { id: 'why', atMs: 20_000 } },
  ]);
  expect(ended().map(({ id }) => id)).toEqual(['why', 'recorded']);
});

test('What was heard over the greeting of a machine counts no more once its message begins', async () => {
  await answer();
  await hear('who', 1000);
  await hear('why', 2000);
  leg().mediaEvents.emit('command', { kind: 'message_began' });
  await hear('who', 15_000, 3000);
  expect(ended().map(({ id }) => id)).toEqual(['why', 'recorded']);
});

test('An agent that replaces another is asked for those that were not heard', async () => {
  await answer();
  await hear('who', 1000);
  loseStream();
  await settle();
  expect(t.unsaid).toEqual(['why', 'recorded']);
});

test.each([
  ['no one answered', { answeredAt: null, status: 'no_answer' }, []],
  ['goes on', { status: 'in_progress' }, []],
  ['a person answered', { answeringMachine: 'human' }, ['who', 'news']],
  ['a machine answered', { answeringMachine: 'machine' }, ['who']],
] as const)('A call that %s has violations %o', (_what, change, ids) => {
  const disclosures = [owed('who', 3), { ...owed('news', 3), machines: false }];
  const found = violationsOf({ ...CALL, status: 'completed', answeredAt: 'then', disclosures, ...change });
  expect(found.map(({ id }) => id)).toEqual(ids);
});
