import { describe, expect, onTestFinished, test } from 'vitest';
import { testAgent } from '../../../../src/demo/agentTests.ts';
import type { Screen } from '../../../../src/demo/screen.ts';
import { makeTempDir } from '../../../support/tempDir.ts';
import { unused } from '../../../support/unused.ts';
import { newNumber } from '../support/line.ts';
import { ALL_EVENTS } from '../support/webhooks.ts';
import { carrier, installation } from './installation.ts';

const TIMEOUT = 120_000;

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
    // A busy machine's phone hangs up when the agent is about to answer, which is not heard.
    const heard = (messages: { content: string }[]) => messages.filter(({ content }) => content !== '');
    const { messages } = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
    const said = [
      { role: 'assistant', content: 'Would you like a table?', speech: { synthesis: 'local' } },
      // After a gap of a busy machine the end of a word is heard once more.
      {
        role: 'user',
        content: expect.stringMatching(/^yes please( please)?$/),
        speech: { recognition: 'local' },
      },
    ];
    expect(heard(messages)).toMatchObject(said);
    const last = installation().webhooks.forSession(call.sessionId).at(-1);
    const contents = (one: { content: string }[]) => heard(one).map(({ content }) => content);
    expect(contents(last.messages)).toEqual(contents(messages));
    expect(heard(last.messages)).toMatchObject(said);
  });
});

test('The demo’s restaurant passes its suite by phone', { timeout: TIMEOUT }, async () => {
  const { url, adminToken } = installation().gateway;
  const folder = makeTempDir();
  onTestFinished(() => folder.remove());
  let output = '';
  const write = (text: string) => {
    output += text;
  };
  const screen = unused<Screen>('screen', { title: () => undefined, step: () => undefined });
  const { signal } = new AbortController();
  const deps = { baseUrl: url, adminToken, folder: folder.path, screen, write, signal };
  await testAgent('restaurant', 'phone', deps).catch((cause) => {
    throw new Error(output, { cause });
  });
  expect(output).toContain('passed: 3 passed, 0 failed, 0 flaky, 0 errors');
});
