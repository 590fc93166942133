import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';

import { startSimulator } from '../../../src/app/simulator/simulator.ts';
import { PATHWAY, VARIABLES } from '../../../src/demo/scenario.ts';
import { phoneInstallation } from './support/installation.ts';
import { newNumber } from './support/line.ts';
import { ALL_EVENTS } from './support/webhooks.ts';

const TIMEOUT = 90_000;

const installation = await phoneInstallation({ STT_PROVIDER: 'local', TTS_PROVIDER: 'local' });
const carrier = await startSimulator({ logger: pino({ level: 'silent' }) });
afterAll(() => carrier.close());

describe('a caller who speaks and hangs up at once', { timeout: TIMEOUT }, () => {
  test('has those words in the history and in the last webhook', async () => {
    const toNumber = newNumber();
    const script = [{ do: 'listen' }, { do: 'say', text: 'yes please' }] as const;
    carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script: [...script] });
    const pathway = {
      nodes: [
        {
          id: 'start',
          type: 'start',
          data: {
            title: 'Ask',
            prompt: 'Say "Would you like a table?"',
            expectedAnswers: ['yes please', 'no thank you'],
          },
        },
      ],
      edges: [],
    };
    const line = await installation().makeLine({ trunks: [{ port: carrier.sipPort }], pathway });
    const call = await line.call({ toNumber });
    expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', endReason: 'caller_hangup' });
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    const { messages } = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
    const said = [
      { role: 'assistant', content: 'Would you like a table?', speech: { synthesis: 'local' } },
      { role: 'user', content: 'yes please', speech: { recognition: 'local' } },
    ];
    expect(messages).toMatchObject(said);
    expect(installation().webhooks.forSession(call.sessionId).at(-1).messages).toMatchObject(said);
  });
});

/** The agent has asked, and asks again. */
const QUESTION = 'Hello Ada, this is Luna. Would you like to keep your table for two, tomorrow at seven?';
const REPROMPT = 'Sorry, I did not catch that. Could you say it again?';

test("The demo's callee who asks about the weather is asked again, and has canceled nothing", {
  timeout: TIMEOUT,
}, async () => {
  const toNumber = newNumber();
  carrier.phones.set(toNumber, {
    kind: 'answers',
    afterMs: 0,
    script: [
      { do: 'listen' },
      { do: 'say', text: 'What is the weather like in Paris?' },
      { do: 'listen' },
      { do: 'say', text: 'Yes, keep it.' },
      { do: 'listen' },
    ],
  });
  const line = await installation().makeLine({
    trunks: [{ port: carrier.sipPort }],
    pathway: PATHWAY,
    agent: { variableConfigs: VARIABLES },
  });
  const call = await line.call({ toNumber, dynamicVariables: { name: 'Ada' } });
  await line.waitForEnd(call);
  const { messages, events } = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
  expect(messages.slice(0, 3)).toMatchObject([
    { role: 'assistant', content: QUESTION },
    { role: 'assistant', content: REPROMPT },
    { role: 'user', content: expect.stringMatching(/^(?:u[hm] )?yes keep it$/) },
  ]);
  const nodes = events.flatMap(({ type, data }: { type: string; data: { nodeId?: string } }) =>
    type === 'node_entered' ? [data.nodeId] : [],
  );
  expect(nodes).toEqual(['greeting', 'special']);
});
