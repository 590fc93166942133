import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { ModelError } from '../../../src/providers/ports/modelError.ts';
import { AgentSpeech } from '../../../src/voice/speech/agentSpeech.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { StreamedSynthesis } from '../../../src/voice/speech/streamedSynthesis.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { scriptedVoice } from '../support/scriptedSpeech.ts';
import { STREAMED_WORD_MS, scriptedSynthesizer } from '../support/scriptedSynthesizer.ts';
import { soundMs } from '../support/simulatedCall.ts';
import { createSimulatedStream } from '../support/simulatedStream.ts';

function streamedSpeech() {
  const clock = createSimulatedClock();
  const synthesizer = scriptedSynthesizer();
  const fallbackVoice = scriptedVoice();
  const stream = createSimulatedStream({ clock });
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const synthesis = new SpeechSynthesis(
    { textToSpeech: fallbackVoice, cache: createSpeechCache(), clock: systemClock, onFailure },
    8000,
  );
  const streamedSynthesis = new StreamedSynthesis(
    { textToSpeech: synthesizer, fallback: synthesis, clock, onFailure },
    8000,
  );
  let marks = 0;
  const speech = new AgentSpeech({
    stream,
    synthesis,
    streamedSynthesis,
    voice: {},
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

  test('is left to the fallback after 1.5 s without a sound', async () => {
    const { clock, synthesizer, fallbackVoice, stream, speech } = streamedSpeech();
    synthesizer.isManual = true;
    speech.write('Hello there. ');
    speech.finish();
    await stream.advance(20);
    clock.advance(1500);
    await stream.advance(40);
    expect(fallbackVoice.texts).toEqual(['Hello there.']);
    expect(synthesizer.requests[0]?.isCancelled).toBe(true);
  });

  test('is left when its speech does not end', async () => {
    const { synthesizer, fallbackVoice, stream, speech } = streamedSpeech();
    synthesizer.isManual = true;
    speech.say('Hi.');
    await stream.advance(20);
    for (let n = 0; n < 20; n++)
      synthesizer.requests[0]?.emit({ type: 'samples', samples: new Int16Array(8000).fill(900) });
    await stream.advance(40);
    expect(synthesizer.requests[0]?.isCancelled).toBe(true);
    expect(fallbackVoice.texts).toEqual([]);
  });
});
