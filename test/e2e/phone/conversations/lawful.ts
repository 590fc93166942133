import { expect, test } from 'vitest';
import { newNumber } from '../support/line.ts';
import { carrier, installation } from './installation.ts';

const STOP = 'please stop calling me';
const WHO = 'This is a test call.';
const QUESTION = 'May I tell you about our offer?';
const GOODBYE = 'We will not call you again. Goodbye.';

test('A person who says “please stop calling me” has heard who calls, is listed, hears so, and the call ends', {
  timeout: 120_000,
}, async () => {
  const toNumber = newNumber();
  // Listens to the end, unless the agent hangs up before.
  const script = [
    { do: 'listen', quietMs: 1500 },
    { do: 'say', text: STOP },
    { do: 'wait', ms: 60_000 },
  ];
  carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script: script as never });
  const start = { title: 'Ask', prompt: `Say "${QUESTION}"`, expectedAnswers: [STOP, 'yes please'] };
  const line = await installation().makeLine({
    trunks: [{ port: carrier.sipPort }],
    pathway: { nodes: [{ id: 'start', type: 'start', data: start }], edges: [] },
    agent: {
      disclosures: [{ id: 'who', text: WHO, withinSeconds: 30, direction: 'outbound' }],
      optOut: { confirm: GOODBYE },
    },
  });
  const call = await line.call({ toNumber });
  expect(await line.waitForEnd(call, 90_000)).toMatchObject({
    status: 'completed',
    endReason: 'agent_hangup',
    violations: [],
  });
  await line.waitForFinalized(call);
  const { messages, events } = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
  const assistant = { role: 'assistant' };
  // After a gap of a busy machine the end of a word is heard once more.
  const said = expect.stringMatching(/^please stop calling me( me)?$/);
  expect(messages).toMatchObject([
    { ...assistant, content: WHO },
    { ...assistant, content: expect.stringContaining('May I') },
    { role: 'user', content: said },
    { ...assistant, content: GOODBYE },
  ]);
  const of = (type: string) => events.filter((event: { type: string }) => event.type === type);
  expect(of('disclosure_heard')).toMatchObject([{ data: { id: 'who', atMs: expect.any(Number) } }]);
  expect(of('opt_out')).toMatchObject([{ data: { source: 'spoken', reason: said } }]);
  const { body } = await line.api('GET', '/do-not-call');
  expect(body.data).toMatchObject([{ source: 'spoken', reason: said, callId: call.callId }]);
  const again = await line.requestCall({ toNumber });
  expect([again.status, again.body.code]).toEqual([422, 'do_not_call']);
});
