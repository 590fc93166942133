import { expect, test } from 'vitest';
import type { Recognizer } from '../../../src/models/ports/recognizer.ts';
import type { StreamingSpeechToText } from '../../../src/models/ports/streamingSpeechToText.ts';
import { createRecognizerChain } from '../../../src/models/recognition/recognizerChain.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { callWith } from '../support/callWith.ts';
import { scriptedCaller } from '../support/scriptedSpeech.ts';
import { eventsOf, greeted } from '../support/simulatedCall.ts';

const WORDS = 'I need a new key for the cellar door.';

/** Tells turns. It hears nothing, or the first words at once and all of them when it is asked. */
function recognizer(name: string, hears: boolean): StreamingSpeechToText {
  return {
    name,
    detectsTurns: true,
    connect(_options, onEvent) {
      queueMicrotask(() => onEvent({ type: 'connected' }));
      let isVoice = false;
      return {
        push(samples) {
          if (!hears || isVoice || !samples.some((sample) => sample > 500)) return;
          isVoice = true;
          queueMicrotask(() => onEvent({ type: 'interim', transcript: { text: 'I need' } }));
        },
        finalize() {
          if (!hears) return false;
          queueMicrotask(() => {
            onEvent({ type: 'final', transcript: { text: isVoice ? WORDS : '' } });
            onEvent({ type: 'end_of_turn' });
          });
          return true;
        },
        close: () => undefined,
      };
    },
    close: async () => undefined,
  };
}

test.each(['another that tells turns', 'one that takes whole utterances'])(
  'A recognizer that hears nothing is left within 1.5 s of the last word for %s, which hears all words',
  async (kind) => {
    const clock = createSimulatedClock();
    const left: string[] = [];
    const chainOf = (...vendors: StreamingSpeechToText[]) =>
      createRecognizerChain(
        vendors.map((model) => ({ model, name: model.name })),
        { clock, onFallback: (from, to) => void left.push(`${from.name} ${to.name}`) },
      );
    const caller = scriptedCaller();
    const deaf = recognizer('deaf', false);
    const recognizers: Recognizer[] = kind.startsWith('another')
      ? [chainOf(deaf, recognizer('hearing', true))]
      : [chainOf(deaf), caller];
    const { call } = callWith('agent', { recognition: { provider: 'deepgram' } }, { recognizers }, { clock });
    await greeted(call);
    call.stream.speak(caller.say(WORDS, 1500));
    await call.stream.advance(1500 + 1300);
    expect([left, eventsOf(call, 'provider_fallback')]).toEqual([[], []]);
    await call.stream.advance(200);
    expect(
      left.length + call.sessionEvents.filter(({ type }) => type === 'provider_fallback').length,
    ).toBeGreaterThan(0);
    await greeted(call);
    await call.hangUp();
    expect(call.transcript().slice(1)).toEqual([`user: ${WORDS}`, 'assistant: Certainly.']);
  },
);
