import { expect, test } from 'vitest';
import type { SpeechConfig } from '../../../src/agents/speech/speechConfig.ts';
import type { RecognitionConnectionOptions } from '../../../src/models/ports/streamingSpeechToText.ts';
import { callWith, PLACES } from '../support/callWith.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { scriptedSynthesizer } from '../support/scriptedSynthesizer.ts';
import { eventsOf, greeted, nodeWith, type SimulatedCallOptions } from '../support/simulatedCall.ts';

const SPEECH = {
  languages: ['en', 'zh-TW'],
  voices: { en: { voice: 'amy' }, 'zh-TW': { provider: 'custom', voice: 'mei', model: 'two' } },
} satisfies SpeechConfig;

/** A call that has been greeted, and what its vendors were told. */
async function bilingual(
  place: 'agent' | 'node' = 'agent',
  speech: SpeechConfig = SPEECH,
  more: Partial<SimulatedCallOptions> = {},
) {
  const told: RecognitionConnectionOptions[] = [];
  const recognizer = scriptedRecognizer(true);
  const { connect } = recognizer;
  recognizer.connect = (options, onEvent) => {
    told.push(options);
    return connect(options, onEvent);
  };
  const voice = scriptedSynthesizer();
  const vendors = { recognizers: [recognizer], synthesizers: [voice] };
  const { call, asked } = callWith(place, speech, vendors, more);
  await greeted(call);
  return {
    call,
    told,
    asked,
    recognizer,
    voice,
    /** The caller says this, and hears the answer. */
    async hear(text: string, language?: string) {
      await call.say('', 1000);
      recognizer.emit({ type: 'final', transcript: { text, language } });
      recognizer.emit({ type: 'end_of_turn' });
      await greeted(call);
    },
    languageOfAnswer: () => voice.requests.at(-1)?.voice.language,
    instructions: () => JSON.stringify(call.model.requests.at(-1)?.messages),
  };
}

test.each(PLACES)(
  'languages and voices of the %s: the answer is in the language that was heard',
  async (place) => {
    const { call, told, asked, voice, hear, languageOfAnswer, instructions } = await bilingual(place);
    expect(told).toMatchObject([{ languages: ['en', 'zh-TW'] }]);
    expect(told[0]?.language).toBeUndefined();
    expect(voice.requests[0]?.voice.language).toBe('en');
    expect(asked.at(-1)?.synthesis).toEqual({ voice: 'amy' });
    await hear('我想訂位', 'zh');
    expect(languageOfAnswer()).toBe('zh-TW');
    expect(asked.at(-1)?.synthesis).toEqual({ provider: 'custom', voice: 'mei', model: 'two' });
    expect(instructions()).toContain('Answer in this language: Chinese (Taiwan).');
    const switched = { name: 'language', value: 'zh-TW', source: 'heard' };
    expect(eventsOf(call, 'variable_set')).toEqual([switched]);
    await call.stream.advance(9000);
    expect(voice.requests.at(-1)?.text).toContain('請問您還在嗎');
    await hear('In English, please.', 'en-US');
    expect(languageOfAnswer()).toBe('en');
    expect(instructions()).toContain('Answer in this language: English.');
    // It is told once, and hears all of the call.
    expect(told).toHaveLength(1);
    await call.stream.hangUp();
  },
);

test.each([
  ['that the agent does not speak', 'Guten Tag.', 'de'],
  ['of a backchannel', 'Okay, yes.', 'en'],
  ['that is not told', 'Where are you?', undefined],
])('A language %s leaves the conversation in its own', async (_, text, language) => {
  const { call, hear, languageOfAnswer } = await bilingual();
  await hear('我想訂位', 'zh');
  await hear(text, language);
  expect(languageOfAnswer()).toBe('zh-TW');
  await call.stream.hangUp();
});

test('A node that names its language stays in it', async () => {
  const pathway = nodeWith({ speech: { recognition: { language: 'de' } } });
  const { call, told, hear, languageOfAnswer, asked } = await bilingual('agent', SPEECH, { pathway });
  expect(told).toMatchObject([{ language: 'de' }]);
  await hear('我想訂位', 'zh');
  expect(languageOfAnswer()).toBe('de');
  expect(asked.at(-1)?.synthesis).toEqual({});
  expect(eventsOf(call, 'variable_set')).toEqual([]);
  await call.stream.hangUp();
});

test('An answer that was prepared in another language is prepared anew', async () => {
  const { call, recognizer, voice, languageOfAnswer } = await bilingual();
  await call.say('', 1000);
  recognizer.interim('Una mesa para dos.');
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(200);
  expect(languageOfAnswer()).toBe('en');
  recognizer.emit({ type: 'final', transcript: { text: 'Una mesa para dos.', language: 'zh-TW' } });
  recognizer.emit({ type: 'end_of_turn' });
  await greeted(call);
  expect(languageOfAnswer()).toBe('zh-TW');
  expect(voice.requests.at(-2)?.isCancelled).toBe(true);
  await call.stream.hangUp();
});

test('A session that continues on another stream is heard and answered as its agent says', async () => {
  const { call, told, voice, hear } = await bilingual('agent', SPEECH);
  await hear('我想訂位', 'zh');
  await call.hangUp();
  expect([told.length, voice.requests.length]).toEqual([1, 2]);
  const resumed = await bilingual('agent', SPEECH, {
    session: { isResumed: true },
    sessions: call.memory.sessions,
  });
  expect(resumed.voice.requests.map((request) => [request.text, request.voice.language])).toEqual([
    [expect.stringContaining('請您繼續說'), 'zh-TW'],
  ]);
  await resumed.hear('星期五', 'zh');
  expect(resumed.call.transcript()).toContain('user: 星期五');
  await resumed.call.stream.hangUp();
});

test('An answer that was prepared in another language than the words turn out to be of is given anew', async () => {
  const { call, recognizer, voice } = await bilingual();
  await call.say('', 1000);
  recognizer.emit({ type: 'final', transcript: { text: 'Taxi', language: 'en' } });
  await call.stream.advance(100);
  recognizer.emit({ type: 'eager_end' });
  await call.stream.advance(100);
  expect(call.model.requests).toHaveLength(2);
  recognizer.emit({ type: 'final', transcript: { text: 'Taxi.', language: 'zh' } });
  recognizer.emit({ type: 'end_of_turn' });
  await greeted(call);
  await call.hangUp();
  expect(voice.requests.map((request) => request.voice.language)).toEqual(['en', 'en', 'zh-TW']);
  expect(call.transcript().slice(1)).toEqual(['user: Taxi.', 'assistant: Certainly.']);
});
