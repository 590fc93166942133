import { expect, test } from 'vitest';
import type { SpeechConfig } from '../../../src/agents/speech/speechConfig.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { RecognitionConnectionOptions } from '../../../src/models/ports/streamingSpeechToText.ts';
import type { SynthesisRequest, TextToSpeech } from '../../../src/models/ports/textToSpeech.ts';
import { callWith, PLACES } from '../support/callWith.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { scriptedVoice } from '../support/scriptedSpeech.ts';
import { scriptedSynthesizer } from '../support/scriptedSynthesizer.ts';
import { GREETING, greeted } from '../support/simulatedCall.ts';

test.each(PLACES)('speech of the %s names who hears and who speaks', async (place) => {
  const speech = {
    recognition: { provider: 'openai', model: 'hearing', options: { batch: true } },
    synthesis: { provider: 'custom', model: 'speaking', voice: 'mia', options: { mood: 'calm' } },
  } as const;
  const [recognizer, voice] = [scriptedRecognizer(true), scriptedSynthesizer()];
  const vendors = { recognizers: [recognizer], synthesizers: [voice] };
  const { call, asked, byDefault } = callWith(place, speech, vendors);
  await greeted(call);
  expect(asked).toContainEqual(expect.objectContaining(speech));
  expect(voice.requests.map(({ text }) => text)).toEqual([GREETING.text]);
  await call.say('', 1000);
  recognizer.final('a table');
  recognizer.emit({ type: 'end_of_turn' });
  await greeted(call);
  expect(call.voice.texts).toEqual([]);
  expect([byDefault.heardSamples, recognizer.heardSamples > 8000]).toEqual([0, true]);
  await call.stream.hangUp();
  expect(call.transcript()).toContain('user: a table');
});

test.each(PLACES)('language and keyterms of the %s are told to the recognizer', async (place) => {
  const told: RecognitionConnectionOptions[] = [];
  const scripted = scriptedRecognizer(true);
  const recognizer = {
    ...scripted,
    connect(...[options, onEvent]: Parameters<typeof scripted.connect>) {
      told.push(options);
      return scripted.connect(options, onEvent);
    },
  };
  const recognition = { language: 'zh-TW', keyterms: ['Callway'] };
  const { call } = callWith(place, { recognition }, { recognizers: [recognizer] });
  await greeted(call);
  expect(told).toEqual([expect.objectContaining(recognition)]);
  await call.stream.hangUp();
});

test.each(PLACES)('speech of the %s names who takes over', async (place) => {
  const fallback = {
    recognition: [
      { provider: 'openai', model: 'second', language: 'de', keyterms: ['x'], options: { batch: true } },
    ],
    synthesis: [
      {
        provider: 'openai',
        model: 'second',
        voice: 'echo',
        speed: 1.2,
        options: { instructions: 'Calmly.' },
      },
    ],
  } as const satisfies SpeechConfig['fallback'];
  const [first, second] = [scriptedRecognizer(true), scriptedRecognizer(true)];
  const broken = { ...scriptedSynthesizer(), name: 'broken', isManual: true };
  const next = { ...scriptedVoice(), name: 'next' };
  const speaks = { ...broken, connect: () => ({ close: () => undefined, speak: refusing }) };
  const config = { fallback: fallback as unknown as SpeechConfig['fallback'] };
  const vendors = { recognizers: [first, second], synthesizers: [speaks, next] };
  const { call, asked, failed } = callWith(place, config, vendors);
  await greeted(call);
  expect(asked).toContainEqual(expect.objectContaining({ fallback }));
  expect(next.texts).toEqual(['Hello there.', 'How can I help you?']);
  expect(failed).toHaveLength(1);
  first.emit({ type: 'failed', error: new ModelError('model_rejected', 'refuses the key') });
  await call.say('', 1000);
  second.final('a table');
  second.emit({ type: 'end_of_turn' });
  await greeted(call);
  await call.stream.hangUp();
  expect(call.transcript()).toContain('user: a table');
  expect(call.sessionEvents).toContainEqual(
    expect.objectContaining({
      type: 'provider_fallback',
      data: { kind: 'synthesis', from: 'broken', to: 'next', reason: 'refuses the key' },
    }),
  );
});

test.each([
  ['agent', 'the agent'],
  ['node', 'node “start”'],
] as const)('A voice that the vendor refuses is named with its place, the %s', async (place, named) => {
  const speaks = { ...scriptedSynthesizer(), connect: () => ({ close: () => undefined, speak: refusing }) };
  const synthesis = { provider: 'custom', voice: 'ghost' } as const;
  const { call } = callWith(place, { synthesis }, { synthesizers: [speaks] });
  await greeted(call);
  const reasons = call.sessionEvents.map(({ data }) => data.reason);
  expect(reasons).toContainEqual(expect.stringMatching(` \\(voice “ghost” of ${named}\\)$`));
});

test('A voice that has failed for another call is skipped, and the history tells so', async () => {
  const [skipped, next] = [scriptedSynthesizer(), { ...scriptedVoice(), name: 'next' }];
  const vendors = { synthesizers: [skipped, next], skipped };
  const { call } = callWith('agent', { synthesis: { provider: 'custom' } }, vendors);
  await greeted(call);
  expect([skipped.requests, next.texts]).toEqual([[], ['Hello there.', 'How can I help you?']]);
  expect(call.sessionEvents).toContainEqual(
    expect.objectContaining({
      type: 'provider_fallback',
      data: expect.objectContaining({
        kind: 'synthesis',
        to: 'next',
        reason: expect.stringMatching(/moments/),
      }),
    }),
  );
});

const refusing: ReturnType<ReturnType<typeof scriptedSynthesizer>['connect']>['speak'] = (
  _voice,
  onEvent,
) => {
  queueMicrotask(() =>
    onEvent({ type: 'failed', error: new ModelError('model_rejected', 'refuses the key') }),
  );
  const nothing = () => undefined;
  return { write: nothing, end: nothing, pause: nothing, resume: nothing, cancel: nothing };
};

test.each(PLACES)('speed and pronunciations of the %s shape what is said', async (place) => {
  const voice = scriptedVoice();
  const requests: SynthesisRequest[] = [];
  const noting: TextToSpeech = {
    ...voice,
    synthesize(request, signal) {
      requests.push(request);
      return voice.synthesize(request, signal);
    },
  };
  const speech = { synthesis: { speed: 1.5 }, pronunciations: [{ word: 'Hello', say: 'Hallo' }] };
  const { call } = callWith(place, speech, { synthesizers: [noting] });
  await greeted(call);
  expect(requests[0]).toMatchObject({ text: 'Hallo there.', speed: 1.5 });
  await call.stream.hangUp();
});

test('A project’s own credentials of the settings’ provider serve an agent without speech', async () => {
  const [recognizer, voice] = [scriptedRecognizer(true), scriptedSynthesizer()];
  const vendors = { recognizers: [recognizer], synthesizers: [voice] };
  const { call, byDefault } = callWith('agent', {}, { ...vendors, hasOwnDefaults: true });
  await greeted(call);
  expect(voice.requests.map(({ text }) => text)).toEqual([GREETING.text]);
  await call.say('', 500);
  expect([byDefault.heardSamples, recognizer.heardSamples > 0]).toEqual([0, true]);
  await call.stream.hangUp();
});
