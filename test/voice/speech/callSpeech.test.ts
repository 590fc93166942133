import { describe, expect, test } from 'vitest';
import type { SpeechConfig } from '../../../src/agents/speech/speechConfig.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { Synthesizer } from '../../../src/models/ports/synthesizer.ts';
import type { TextToSpeech } from '../../../src/models/ports/textToSpeech.ts';
import type { ProviderFallback } from '../../../src/models/selection/callProviders.ts';
import {
  CallSpeech,
  type CallSpeechDeps,
  type SessionSynthesis,
} from '../../../src/voice/speech/callSpeech.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { candidate } from '../../models/support/candidate.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedCaller, scriptedVoice } from '../support/scriptedSpeech.ts';

const named = (name: string): TextToSpeech & { texts: string[]; failures: number } =>
  Object.assign(scriptedVoice(), { name });
const CONFIG: SpeechConfig = {
  synthesis: { provider: 'openai', voice: 'ash', speed: 1.2 },
  pronunciations: [],
};
const AWAY = new ModelError('model_unavailable', 'away', { beforeFirstToken: true });

/** The speech of a call whose agent names these vendors. */
function callSpeech({
  vendors = async () => [named('a'), named('b')] as readonly Synthesizer[],
  isWorking = (_name: string): boolean => true,
  own = async () => ({ recognition: false, synthesis: false }),
  recognizers = async () => [{ ...scriptedCaller(), name: 'named' }],
  last = undefined as TextToSpeech | undefined,
} = {}) {
  const clock = createSimulatedClock();
  const defaults = {
    synthesis: new SpeechSynthesis(
      {
        voices: [candidate(named('default'))],
        cache: createSpeechCache(),
        clock,
        onFailure: () => undefined,
      },
      8000,
    ),
    speechToText: scriptedCaller(),
  };
  const [left, errors, reported]: [ProviderFallback[], string[], unknown[][]] = [[], [], []];
  let closed = 0;
  const deps: CallSpeechDeps = {
    providers: {
      ownDefaults: own,
      synthesizers: async () => (await vendors()).map(candidate),
      recognizers,
      breakers: {
        isClosed: isWorking,
        succeeded: (name) => void reported.push([name, true]),
        failed: (name) => void reported.push([name, false]),
      },
      close: () => {
        closed += 1;
      },
    },
    defaults,
    projectId: 'p',
    sampleRateHz: 8000,
    lastVoice: last,
    cache: createSpeechCache(),
    clock,
    onError: (_error, message) => void errors.push(message),
  };
  const speech = new CallSpeech(deps);
  speech.listen((fallback) => void left.push(fallback));
  return { speech, defaults, left, errors, reported, closed: () => closed };
}

/** @returns The vendor that speaks. */
async function spokenBy({ synthesis }: SessionSynthesis): Promise<string | undefined> {
  let by: string | undefined;
  await synthesis.speak({ text: 'Hi', language: 'en' }, new AbortController().signal, (_samples, vendor) => {
    by = vendor;
  });
  return by;
}

describe('The voice of a call', () => {
  test('is that of the settings for an agent without speech, at once when it is known', async () => {
    const { speech, defaults } = callSpeech();
    expect(await speech.synthesisFor({}, 'en')).toBe(defaults);
    expect(speech.synthesisFor({}, 'en')).toBe(defaults);
    expect(speech.latest).toBe(defaults);
  });

  test('is opened once for each that is named, with its speed', async () => {
    let asked = 0;
    const { speech, defaults } = callSpeech({
      vendors: async () => {
        asked += 1;
        return [named('a')];
      },
    });
    const [one, again, other] = [
      await speech.synthesisFor(CONFIG, 'en'),
      await speech.synthesisFor(CONFIG, 'en'),
      await speech.synthesisFor({ ...CONFIG, synthesis: { provider: 'openai', voice: 'sage' } }, 'en'),
    ];
    expect(again).toBe(one);
    expect(other).not.toBe(one);
    expect(one).toMatchObject({ manner: { speed: 1.2, pronunciations: [] } });
    expect([asked, speech.latest === other, speech.latest === defaults]).toEqual([2, true, false]);
  });

  test('is that of the project’s own credentials where it has them', async () => {
    const { speech, defaults } = callSpeech({ own: async () => ({ recognition: true, synthesis: true }) });
    expect(await speech.synthesisFor({}, 'en')).not.toBe(defaults);
    expect((await speech.recognizersFor({})).map(({ name }) => name)).toEqual(['named']);
  });

  test('is that of the settings where the credentials cannot be read', async () => {
    const { speech, defaults, errors } = callSpeech({ own: () => Promise.reject(AWAY) });
    expect(await speech.synthesisFor({}, 'en')).toBe(defaults);
    expect(await speech.recognizersFor({})).toEqual([defaults.speechToText]);
    expect(errors).toEqual(['provider credentials of the project not read']);
  });

  test.each([
    ['cannot be opened', () => Promise.reject(AWAY), 'away'],
    ['is none', async () => [], 'no speech provider'],
  ])('is that of the settings where the named one %s', async (_what, vendors, reason) => {
    const { speech, defaults, left, errors } = callSpeech({ vendors, last: named('last') });
    expect(await speech.synthesisFor(CONFIG, 'en')).toBe(defaults);
    expect(left).toEqual([{ kind: 'synthesis', from: 'openai', to: 'last', reason }]);
    expect(errors).toEqual(['speech synthesis of the agent not usable']);
  });
});

/** A voice that its vendor may not have. */
const refused: TextToSpeech = {
  ...named('a'),
  // biome-ignore lint/correctness/useYield: it fails before its first sound.
  async *synthesize() {
    throw new ModelError('model_rejected', 'unknown voice', { beforeFirstToken: true });
  },
};
const broken = () => Object.assign(named('a'), { failures: 9 });
const FROM_A = { kind: 'synthesis', from: 'a' } as const;

test.each<[string, Parameters<typeof callSpeech>[0], string, ProviderFallback[]]>([
  ['the first one', {}, 'a', []],
  [
    'the next one where the first is down',
    { vendors: async () => [broken(), named('b')] },
    'b',
    [{ ...FROM_A, to: 'b', reason: 'The voice is down' }],
  ],
  [
    'the one that works where the next has failed for another call, and it is named',
    {
      vendors: async () => [broken(), named('b'), named('c')],
      isWorking: (name) => name !== 'b',
    },
    'c',
    [{ ...FROM_A, to: 'c', reason: 'The voice is down' }],
  ],
  [
    'the last voice where no named one works',
    { vendors: async () => [broken()], last: named('last') },
    'last',
    [{ ...FROM_A, to: 'last', reason: 'The voice is down' }],
  ],
  [
    'the next one where the voice is refused, which is named',
    { vendors: async () => [refused, named('b')] },
    'b',
    [{ ...FROM_A, to: 'b', reason: 'unknown voice (voice “ash” of node “n”)' }],
  ],
  [
    'the next one where the first has just failed',
    { isWorking: (name) => name !== 'a' },
    'b',
    [{ ...FROM_A, to: 'b', reason: expect.any(String) }],
  ],
])('Of several vendors speaks %s', async (_what, options, vendor, expected) => {
  const { speech, left, reported } = callSpeech(options);
  expect(await spokenBy(await speech.synthesisFor(CONFIG, 'en', 'node “n”'))).toBe(vendor);
  expect(left).toEqual(expected);
  if (vendor !== 'last') expect(reported).toContainEqual([vendor, true]);
});

test('Recognizers are those that are named, and that of the settings where they cannot be opened', async () => {
  const config: SpeechConfig = { recognition: { provider: 'deepgram' } };
  expect((await callSpeech().speech.recognizersFor(config)).map(({ name }) => name)).toEqual(['named']);
  const { speech, defaults, left, errors } = callSpeech({ recognizers: () => Promise.reject('away') });
  expect(await speech.recognizersFor(config)).toEqual([defaults.speechToText]);
  expect(left).toEqual([{ kind: 'recognition', from: 'deepgram', to: 'scripted', reason: 'unknown' }]);
  expect(errors).toEqual(['speech recognition of the agent not usable']);
});

test('A call’s speech is closed with what it has opened', async () => {
  const { speech, closed } = callSpeech();
  await speech.synthesisFor(CONFIG, 'en');
  speech.close();
  expect(closed()).toBe(1);
});
