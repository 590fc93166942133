import { expect, test } from 'vitest';
import type { AudioStream } from '../../../src/conversation/streams/audioStream.ts';
import type { FailoverPrompts } from '../../../src/media/agentStream/streamClient.ts';
import { sendFailoverPrompts } from '../../../src/voice/speech/failoverPrompt.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { StreamedSynthesis } from '../../../src/voice/speech/streamedSynthesis.ts';
import { candidate } from '../../models/support/candidate.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { scriptedVoice, WORD_MS } from '../support/scriptedSpeech.ts';
import { STREAMED_WORD_MS, scriptedSynthesizer } from '../support/scriptedSynthesizer.ts';
import { soundMs } from '../support/simulatedCall.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The prompts of a call that has begun. */
function scene(isStreamed: boolean) {
  const clock = createSimulatedClock();
  const [voice, synthesizer] = [scriptedVoice(), scriptedSynthesizer()];
  const sent: FailoverPrompts[] = [];
  const errors: string[] = [];
  const onFailure = () => undefined;
  const synthesis = new SpeechSynthesis(
    { voices: [candidate(voice)], cache: createSpeechCache(), clock, onFailure },
    8000,
  );
  const streamed = {
    voice: candidate(synthesizer),
    others: [candidate(voice)],
    rest: synthesis,
    clock,
    onFailure,
  };
  const cancel = sendFailoverPrompts(
    {
      stream: unused<AudioStream>('stream', { setFailoverPrompts: (prompts) => void sent.push(prompts) }),
      clock,
      onError: (_error, message) => errors.push(message),
    },
    async () => ({
      waiting: 'One moment.',
      apology: 'We are very sorry.',
      language: 'en',
      synthesis,
      ...(isStreamed ? { streamedSynthesis: new StreamedSynthesis(streamed, 8000) } : {}),
    }),
  );
  return { cancel, clock, errors, sent, voice };
}

test.each([
  ['whole texts', false, WORD_MS],
  ['texts as they are written', true, STREAMED_WORD_MS],
])('Failover prompts are sent after 2 s, in a voice of %s', async (_what, isStreamed, wordMs) => {
  const { clock, errors, sent } = scene(isStreamed);
  clock.advance(1999);
  await settle();
  expect(sent).toEqual([]);
  clock.advance(1);
  await settle();
  const [prompts] = sent;
  const durations = [prompts?.waiting, prompts?.apology].map((sound) => soundMs(sound ?? new Int16Array(0)));
  expect([durations, errors]).toEqual([[2 * wordMs, 4 * wordMs], []]);
});

test('Failover prompts that cannot be spoken are reported', async () => {
  const { clock, errors, sent, voice } = scene(false);
  voice.failures = 9;
  clock.advance(2000);
  await settle();
  expect([errors, sent]).toEqual([['failover prompts failed'], []]);
});

test.each([
  ['before they are spoken', 1999],
  ['while they are spoken', 2000],
])('A stream that closes %s gets no failover prompts', async (_when, afterMs) => {
  const { cancel, clock, errors, sent } = scene(false);
  clock.advance(afterMs);
  cancel();
  clock.advance(5000);
  await settle();
  expect([errors, sent, clock.pendingTimers()]).toEqual([[], [], 0]);
});
