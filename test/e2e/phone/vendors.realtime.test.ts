import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startSimulator } from '../../../src/app/simulator/simulator.ts';
import { parseWav, pickChannel } from '../../../src/media/wav.ts';
import type { BehaviourInput } from '../../../src/testing/simulator/script.ts';
import { synthesizeSpeech } from '../../support/synthesizedSpeech.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { encodeWav } from '../../support/wavFile.ts';
import { phoneInstallation } from './support/installation.ts';
import { newNumber } from './support/line.ts';
import { soundSegments } from './support/tones.ts';
import {
  type Behaviour,
  chatReply,
  type Service,
  speechReply,
  startVendor,
  transcriptionReply,
} from './support/vendor.ts';
import { ALL_EVENTS } from './support/webhooks.ts';

const TIMEOUT = 150_000;
/** Calls at once delay each other on a slow machine. */
const CALL_MS = 100_000;
const RATE_HZ = 8000;
/** The longest silence that a caller may hear. */
const DEAD_LINE_MS = 10_000;
const BETWEEN_SOUNDS_MS = 300;

/** Faults of an endpoint, permanent and on each request: one of each kind. `test/vendors/openai` has all of them. */
const FAULTS = {
  'refuses the key': { status: 401, body: '{"error":{"message":"who are you","code":null}}' },
  hangs: 'hang',
} as const satisfies Record<string, Behaviour>;
type Fault = keyof typeof FAULTS;

/** In the text of a request whose greeting fails too. */
const FROM_THE_START = 'from the start';

/** The request's text names the fault; the greeting works. */
function conductOf(service: Service, request: string): Behaviour {
  const fault = (Object.keys(FAULTS) as Fault[]).find((name) => request.includes(`${service} ${name}`));
  const isGreeting = service === 'chat' && !request.includes('"role":"user"');
  if (isGreeting && !request.includes(FROM_THE_START)) return chatReply('Hello.');
  if (fault) return FAULTS[fault];
  const meant = /Mode: ([a-z ]+\d*)\./.exec(request)?.[1];
  return { chat: chatReply(`Well, ${meant}.`), speech: speechReply, transcription: transcriptionReply }[
    service
  ];
}

const vendor = await startVendor(conductOf);
const installation = await phoneInstallation({
  OPENAI_BASE_URL: vendor.baseUrl,
  OPENAI_API_KEY: 'key',
  EMBEDDING_PROVIDER: 'local',
  DEEPGRAM_API_KEY: 'wrong',
  DEEPGRAM_BASE_URL: vendor.refusingUrl,
  ELEVENLABS_API_KEY: 'wrong',
  ELEVENLABS_BASE_URL: vendor.refusingUrl,
});
const carrier = await startSimulator({ logger: pino({ level: 'silent' }) });
const folder = makeTempDir();
const file = join(folder.path, 'yes.wav');
beforeAll(async () =>
  writeFile(file, encodeWav(await synthesizeSpeech('yes please', RATE_HZ, 'slt'), RATE_HZ)),
);
afterAll(async () => {
  await carrier.close();
  folder.remove();
});

type Step = Extract<BehaviourInput, { kind: 'answers' }>['script'][number];
/** Waits until the line has been quiet for a while. */
const WHILE_THERE_IS_SOMETHING: Step = { do: 'listen', quietMs: 2500, atMostMs: 40_000 };
const UNTIL_THE_AGENT_HANGS_UP: Step = { do: 'wait', ms: 60_000 };

/** A caller is greeted, says yes, and listens. */
async function callInto(mode: string, listens = WHILE_THERE_IS_SOMETHING, settings: object = {}) {
  const toNumber = newNumber();
  carrier.phones.set(toNumber, {
    kind: 'answers',
    afterMs: 0,
    // A phone that a busy machine connects late has missed the greeting, and speaks all the same.
    script: [{ do: 'listen', quietMs: 800, atMostMs: 15_000 }, { do: 'play', file }, listens],
  });
  const data = {
    title: 'Talk',
    prompt: `Mode: ${mode}.`,
    expectedAnswers: [mode],
    // A slow machine hears the caller late, and would ask whether they are there.
    silence: { afterMs: 60_000 },
  };
  const line = await installation().makeLine({
    trunks: [{ port: carrier.sipPort }],
    pathway: { nodes: [{ id: 'start', type: 'start', data }], edges: [] },
    agent: settings,
  });
  const call = await line.call({ toNumber });
  const { status, endReason } = await line.waitForEnd(call, CALL_MS);
  expect(status).toBe('completed');
  expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
  const { messages, events } = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
  const wav = parseWav(
    new Uint8Array(await (await fetch((await line.readCall(call)).recording.url)).arrayBuffer()),
  );
  const [words, agent] = ([0, 1] as const).map((side) =>
    soundSegments(pickChannel(wav, side), RATE_HZ, BETWEEN_SOUNDS_MS),
  );
  const endOfWords = words?.at(-1)?.to ?? Number.NaN;
  const answer = agent?.filter(({ from }) => from > endOfWords) ?? [];
  const quiet = answer.map(({ from }, index) => from - (answer[index - 1]?.to ?? endOfWords));
  const inMs = (samples: number) => (samples * 1000) / RATE_HZ;
  return {
    endReason,
    greeting: messages[0],
    fallbacks: events.flatMap((one: { type: string; data: object }) =>
      one.type === 'provider_fallback' ? [one.data] : [],
    ),
    firstSoundMs: inMs(agent?.[0]?.from ?? Number.NaN),
    said: messages.slice(1).map(({ content }: { content: string }) => content),
    errors: events.flatMap((one: { type: string; data: { code: string } }) =>
      one.type === 'error' ? [one.data.code] : [],
    ),
    /** The caller's longest wait. */
    silenceMs: inMs(Math.max(...quiet)),
    answerMs: inMs((answer.at(-1)?.to ?? Number.NaN) - (answer[0]?.from ?? Number.NaN)),
  };
}

const APOLOGY = expect.stringMatching(/something is not working on our side/);
const REFUSED = /^127\.0\.0\.1:\d+ refuses the key$/;
const USE_KEYS = expect.stringMatching(/You can use the keys of your phone/);

describe.concurrent('the caller hears no dead air when', { timeout: TIMEOUT }, () => {
  test('the synthesis hangs: the fallback voice speaks', async () => {
    const seen = await callInto('speech hangs');
    expect(seen).toMatchObject({ said: ['Yes, please.', 'Well, speech hangs.'], errors: [] });
    expect(seen.silenceMs).toBeLessThan(DEAD_LINE_MS);
    // The endpoint's tone is shorter than any words.
    expect(seen.answerMs).toBeGreaterThan(800);
  });

  test('every key is wrong: another voice says the apology, and readyz says why', async () => {
    const speech = { recognition: { provider: 'deepgram' }, synthesis: { provider: 'elevenlabs' } };
    const mode = `chat refuses the key ${FROM_THE_START}`;
    const seen = await callInto(mode, UNTIL_THE_AGENT_HANGS_UP, { speech });
    expect(seen).toMatchObject({
      endReason: 'agent_error',
      errors: ['model_rejected'],
      // The recognizer's is there too when the call lasts long enough.
      fallbacks: expect.arrayContaining([
        { kind: 'synthesis', from: 'elevenlabs', to: 'openai', reason: expect.stringMatching(REFUSED) },
      ]),
    });
    // On a slow machine the caller speaks into it.
    expect([seen.greeting.content, ...seen.said]).toContainEqual(APOLOGY);
    expect(seen.firstSoundMs).toBeLessThan(DEAD_LINE_MS);
    const { status, body } = await installation().gateway.api('GET', '/readyz', { key: null });
    const degraded = { status: 'degraded', reason: expect.stringMatching(REFUSED) };
    expect([status, body]).toMatchObject([200, { providers: { deepgram: degraded, elevenlabs: degraded } }]);
    const { body: metrics } = await installation().gateway.api('GET', '/metrics', { key: null });
    expect(metrics).toContain('callway_provider_up{provider="deepgram"} 0');
  });

  test('the recognition hangs: the caller is asked to use DTMF', async () => {
    const seen = await callInto('transcription hangs');
    expect(seen).toMatchObject({ said: [USE_KEYS], errors: ['transcription_failed'] });
    expect(seen.silenceMs).toBeLessThan(DEAD_LINE_MS);
  });
});
