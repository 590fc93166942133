import { afterAll, describe, expect, onTestFailed, onTestFinished, test, vi } from 'vitest';
import { testAgent } from '../../../../src/demo/agentTests.ts';
import type { Screen } from '../../../../src/demo/screen.ts';
import { concatenated } from '../../../../src/media/pcm16.ts';
import { parseWav, pickChannel } from '../../../../src/media/wav.ts';
import { createLocalSpeechToText } from '../../../../src/vendors/local/speechToText.ts';
import { type Baresip, startBaresip } from '../../../sip/support/baresip.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { synthesizeSpeech } from '../../../support/synthesizedSpeech.ts';
import { makeTempDir } from '../../../support/tempDir.ts';
import { unused } from '../../../support/unused.ts';
import { encodeWav } from '../../../support/wavFile.ts';
import { type Line, newNumber, type PlacedCall, SLOW } from '../support/line.ts';
import { soundSegments } from '../support/tones.ts';
import { ALL_EVENTS } from '../support/webhooks.ts';
import { carrier, installation } from './installation.ts';

const TIMEOUT = 120_000;
const RATE_HZ = 8000;
/** Longer than any test: baresip hangs up at the end of its file. */
const QUIET = new Int16Array(90 * RATE_HZ);
/** Longer than a pause between two words, shorter than any turn. */
const BETWEEN_TURNS_MS = 700;
/** Quiet samples kept around a turn: words start and end softly. */
const AROUND = (300 * RATE_HZ) / 1000;

const AGENT = [
  'Would you like to book a table',
  'How many people are coming to dinner',
  'Your table is reserved',
] as const;
const CALLER = ['yes please', 'only the two of us'] as const;
/** Other phrases in the grammar, so that the recognizer has a choice. */
const OTHERS = [
  'no thank you',
  'speak to a human',
  'seven people and a dog',
  'What is your telephone number',
  'The kitchen is closed on Sunday',
] as const;

const PATHWAY = {
  nodes: [
    {
      id: 'start',
      type: 'start',
      data: {
        title: 'Ask',
        prompt: `Say "${AGENT[0]}?"`,
        expectedAnswers: [CALLER[0], OTHERS[0], OTHERS[1]],
      },
    },
    {
      id: 'people',
      type: 'conversation',
      data: { title: 'Count', prompt: `Say "${AGENT[1]}?"`, expectedAnswers: [CALLER[1], OTHERS[2]] },
    },
    { id: 'booked', type: 'say', data: { title: 'Book', prompt: `${AGENT[2]}.` } },
    { id: 'end', type: 'end', data: { title: 'End' } },
  ],
  edges: [
    { id: 'yes', source: 'start', target: 'people', data: { condition: 'The caller says "yes please"' } },
    {
      id: 'two',
      source: 'people',
      target: 'booked',
      data: { condition: 'The caller says "only the two of us"' },
    },
    { id: 'over', source: 'booked', target: 'end' },
  ],
};

const recogniser = createLocalSpeechToText({ searchPath: process.env.PATH ?? '' });
afterAll(() => recogniser.close());

/** Every turn of one channel of a recording, by a recognizer that does not know which side it hears. */
async function wordsIn(channel: Int16Array): Promise<string[]> {
  const words: string[] = [];
  for (const { from, to } of soundSegments(channel, RATE_HZ, BETWEEN_TURNS_MS)) {
    const expectedAnswers = [...AGENT, ...CALLER, ...OTHERS];
    const transcription = recogniser.openStream({ sampleRateHz: RATE_HZ, expectedAnswers });
    transcription.push(channel.subarray(Math.max(0, from - AROUND), to + AROUND));
    words.push(plain((await transcription.finalize(new AbortController().signal)).text));
    transcription.close();
  }
  return words;
}

/** Words alone, without the fillers that recognizers make of breath. */
const plain = (text: string) => text.toLowerCase().replace(/[^a-z ]|^u[hm] /g, '');

async function phoneFor(number: string): Promise<Baresip> {
  const phone = await startBaresip({ user: number, plays: encodeWav(QUIET, RATE_HZ) });
  onTestFinished(() => phone.close());
  return phone;
}

/** A phone that calls us, and its call. */
async function calledByPhone() {
  const phone = await phoneFor('ada');
  const line = await installation().makeLine({
    trunks: [{ port: phone.port, inboundCidrs: ['127.0.0.1/32'] }],
    number: { inboundEnabled: true },
    pathway: PATHWAY,
  });
  await phone.dial(`sip:${line.number}@127.0.0.1:${installation().sipPort}`);
  const call = await vi.waitFor(async () => {
    const [came] = (await line.api('GET', '/calls?direction=inbound')).body.data;
    expect(came).toBeDefined();
    return { callId: came.id, sessionId: came.sessionId };
  }, SLOW);
  return { phone, line, call };
}

async function transcriptOf(line: Line, call: PlacedCall): Promise<{ role: string; content: string }[]> {
  return (await line.api('GET', `/session-history/${call.sessionId}`)).body.messages;
}

describe('a recording of a baresip call', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('is recognized again as in the transcript', async () => {
    const words = await Promise.all(CALLER.map((text) => synthesizeSpeech(text, RATE_HZ, 'slt')));
    const { phone, line, call } = await calledByPhone();
    onTestFailed(async () => console.log(await transcriptOf(line, call)));
    for (const [index, samples] of words.entries()) {
      // After the agent's whole phrase, so that a slow machine is not interrupted.
      await vi.waitFor(async () => expect(await transcriptOf(line, call)).toHaveLength(2 * index + 1), SLOW);
      await phone.play(encodeWav(concatenated([samples, QUIET]), RATE_HZ));
    }
    expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', endReason: 'agent_hangup' });
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    const messages = await transcriptOf(line, call);
    const said = (role: string) => messages.flatMap((one) => (one.role === role ? [plain(one.content)] : []));
    expect([said('assistant'), said('user')]).toEqual([AGENT.map(plain), CALLER.map(plain)]);

    const { recording } = await line.readCall(call);
    const wav = parseWav(new Uint8Array(await (await fetch(recording.url)).arrayBuffer()));
    expect([wav.channels, wav.sampleRateHz]).toEqual([2, RATE_HZ]);
    const caller = await wordsIn(pickChannel(wav, 0));
    const agent = await wordsIn(pickChannel(wav, 1));
    const missed = [
      ...said('user').filter((words) => !caller.includes(words)),
      ...said('assistant').filter((words) => !agent.includes(words)),
    ];
    // A gap of a busy machine may spoil one of the five.
    expect({ caller, agent, isRecognized: missed.length <= 1 }).toMatchObject({ isRecognized: true });
  });
});

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
