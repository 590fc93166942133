import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import { WrittenText } from '../../../src/conversation/speech/writtenText.ts';
import { createBreakers } from '../../../src/models/failover/circuitBreaker.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import type { AgentVoice } from '../../../src/models/ports/textToSpeech.ts';
import { AgentSpeech } from '../../../src/voice/speech/agentSpeech.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { StreamedSynthesis } from '../../../src/voice/speech/streamedSynthesis.ts';
import { candidate } from '../../models/support/candidate.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedVoice } from '../support/scriptedSpeech.ts';
import { STREAMED_WORD_MS, scriptedSynthesizer } from '../support/scriptedSynthesizer.ts';
import { soundMs } from '../support/simulatedCall.ts';
import { createSimulatedStream } from '../support/simulatedStream.ts';

function streamedSpeech(voice: AgentVoice = {}) {
  const clock = createSimulatedClock();
  const synthesizer = scriptedSynthesizer();
  const fallbackVoice = scriptedVoice();
  const stream = createSimulatedStream({ clock });
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const others = [candidate(fallbackVoice)];
  const synthesis = new SpeechSynthesis(
    { voices: others, cache: createSpeechCache(), clock: systemClock, onFailure },
    8000,
  );
  const streamedSynthesis = new StreamedSynthesis(
    { voice: candidate(synthesizer), others, rest: synthesis, clock, onFailure },
    8000,
  );
  let marks = 0;
  const speech = new AgentSpeech({
    stream,
    synthesis,
    streamedSynthesis,
    language: 'en',
    manner: voice,
    nowMs: () => stream.nowMs(),
    nextMark: () => `m${++marks}`,
    onStarted: () => undefined,
    onFirstSamples: () => undefined,
    onFailure,
  });
  stream.events.on('mark', (mark) => speech.playout.onMark(mark));
  stream.events.on('cleared', (position) => speech.playout.onCleared(position));
  stream.events.on('audio', () => speech.onFrame(false));
  return { clock, synthesizer, fallbackVoice, stream, speech, failures };
}

describe('A text that is spoken while it is written', () => {
  test('is sent in whole words, and sounds before its sentence ends', async () => {
    const { synthesizer, stream, speech } = streamedSpeech();
    speech.write('A ta');
    await stream.advance(60);
    expect(synthesizer.requests.map(({ text }) => text)).toEqual(['A ']);
    expect(soundMs(stream.agentAudio())).toBeGreaterThan(0);
    speech.write('ble for');
    speech.write(' two, **please**.');
    expect(synthesizer.requests[0]?.text).toBe('A table for two, ');
    speech.finish();
    expect(synthesizer.requests).toMatchObject([{ text: 'A table for two, please.', isEnded: true }]);
    await stream.advance(2000);
    expect(await speech.playout.ended).toBe('played');
    expect(soundMs(stream.agentAudio())).toBeCloseTo(5 * STREAMED_WORD_MS, -1);
    expect(speech.heardText()).toBe('A table for two, **please**.');
  });

  test('is the vendor’s also after what a model has said itself', async () => {
    const { synthesizer, stream, speech } = streamedSpeech();
    speech.play({
      provider: 'model',
      sampleRateHz: 8000,
      async *samples() {
        yield new Int16Array(800).fill(900);
      },
      truncate: () => undefined,
    });
    speech.writeSpoken('One.');
    speech.completeText();
    speech.write('Two. ');
    speech.finish();
    await stream.advance(1000);
    expect(synthesizer.requests.map(({ text }) => text)).toEqual(['Two. ']);
    expect(speech.heardText()).toBe('One. Two.');
  });

  test('is cut in the history after the last word that was played', async () => {
    const { synthesizer, stream, speech } = streamedSpeech();
    speech.write('One two three four five six. ');
    await stream.advance(20 + 2 * STREAMED_WORD_MS + STREAMED_WORD_MS / 2);
    speech.stop();
    await stream.advance(100);
    expect(speech.heardText()).toBe('One two');
    expect(synthesizer.requests[0]?.isCancelled).toBe(true);
  });

  test('goes on with the fallback after a vendor that fails before its first sound', async () => {
    const { synthesizer, fallbackVoice, stream, speech, failures } = streamedSpeech();
    synthesizer.isManual = true;
    speech.write('Good morning. How are ');
    await stream.advance(20);
    synthesizer.requests[0]?.emit({ type: 'failed', error: new ModelError('model_unavailable', 'gone') });
    await stream.advance(40);
    expect(fallbackVoice.texts).toEqual(['Good morning.']);
    speech.write('you today? ');
    speech.finish();
    await stream.advance(3000);
    expect(fallbackVoice.texts).toEqual(['Good morning.', 'How are you today?']);
    expect(await speech.playout.ended).toBe('played');
    expect(failures).toHaveLength(1);
  });

  test('goes on after the last spoken word when the vendor fails in the middle', async () => {
    const { synthesizer, fallbackVoice, stream, speech } = streamedSpeech();
    speech.write('One two three ');
    await stream.advance(20);
    synthesizer.isManual = true;
    speech.write('four five.');
    speech.finish();
    await stream.advance(20);
    synthesizer.requests[0]?.emit({ type: 'failed', error: new ModelError('model_unavailable', 'gone') });
    await stream.advance(3000);
    expect(fallbackVoice.texts).toEqual(['four five.']);
  });

  test('has no Markdown that two writes cut, and keeps a dash that is a minus', async () => {
    const { synthesizer, stream, speech } = streamedSpeech();
    for (const part of ['- See [our ', 'page](https://x.test/', 'a b) for 5 ', '- 3 = **tw', 'o**.']) {
      speech.write(part);
      await stream.advance(20);
    }
    speech.finish();
    expect(synthesizer.requests[0]?.text.trim()).toBe('See our page for 5 - 3 = two.');
    await stream.advance(3000);
    expect(await speech.playout.ended).toBe('played');
  });

  test('has the pronunciations of whole words, and the history has the written ones', async () => {
    const pronunciations = [
      { word: 'SQL', say: 'see quel' },
      { word: 'New York', say: 'Nooyork' },
      { word: 'c++', say: 'see plus plus' },
      { word: '重慶', say: 'Chóngqìng' },
    ];
    const { synthesizer, stream, speech } = streamedSpeech({ pronunciations, voice: 'mia', speed: 1.2 });
    for (const part of ['In New ', 'York **sql** or MySQL and C++, 在重', '慶 one two.']) {
      speech.write(part);
      await stream.advance(20);
    }
    expect(synthesizer.requests[0]?.text).toBe(
      'In Nooyork see quel or MySQL and see plus plus, 在Chóngqìng one ',
    );
    expect(synthesizer.requests[0]?.voice).toEqual({ language: 'en', voice: 'mia', speed: 1.2 });
    // In, Nooyork, see, quel: the last of them is half said.
    await stream.advance(20 + 3.5 * STREAMED_WORD_MS - 60);
    speech.stop();
    await stream.advance(100);
    expect(speech.heardText()).toBe('In New York');
  });

  test('is spoken to its last whole word before a filler, and goes on with the cut word', async () => {
    const { synthesizer, stream, speech } = streamedSpeech();
    speech.write('Let me tha');
    speech.say('One moment.');
    speech.write('nk you.');
    speech.finish();
    await stream.advance(3000);
    expect(synthesizer.requests.map(({ text }) => text.trim())).toEqual([
      'Let me',
      'One moment.',
      'thank you.',
    ]);
  });

  test('counts what the fallback says as heard when it is played, not when it is made', async () => {
    const { synthesizer, stream, speech } = streamedSpeech();
    speech.write('One two ');
    await stream.advance(20);
    synthesizer.isManual = true;
    speech.write('three four five six seven eight.');
    speech.finish();
    synthesizer.requests[0]?.emit({ type: 'failed', error: new ModelError('model_unavailable', 'gone') });
    await stream.advance(2 * STREAMED_WORD_MS + 300);
    speech.stop();
    await stream.advance(100);
    expect(speech.heardText()).toMatch(/^One two( three)?$/);
  });

  test('that the fallback says as it grows keeps nothing on the signal of its turn', async () => {
    const fallbackVoice = scriptedVoice();
    const others = [candidate(fallbackVoice)];
    const rest = new SpeechSynthesis(
      {
        voices: others,
        cache: createSpeechCache(),
        clock: systemClock,
        onFailure: () => expect.unreachable(),
      },
      8000,
    );
    const breakers = createBreakers(systemClock);
    breakers.failed('failed');
    const synthesis = new StreamedSynthesis(
      {
        voice: { ...candidate(scriptedSynthesizer()), breaker: 'failed' },
        others,
        rest,
        clock: systemClock,
        breakers,
        onFailure: () => expect.unreachable(),
      },
      8000,
    );
    const text = new WrittenText();
    const { signal } = new AbortController();
    const spoken = synthesis.speak(text, {}, signal, {
      onSamples: () => undefined,
      onWords: () => undefined,
    });
    for (const part of ['One. ', 'Two. ', 'Three.']) {
      await new Promise((resolve) => setImmediate(resolve));
      text.write(part);
    }
    text.complete();
    await spoken;
    expect(fallbackVoice.texts).toEqual(['One.', 'Two.', 'Three.']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
