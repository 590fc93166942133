import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';

import { startSimulator } from '../../../src/app/simulator/simulator.ts';
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
      { role: 'assistant', content: 'Would you like a table?' },
      { role: 'user', content: 'yes please' },
    ];
    expect(messages).toMatchObject(said);
    expect(installation().webhooks.forSession(call.sessionId).at(-1).messages).toMatchObject(said);
  });
});
