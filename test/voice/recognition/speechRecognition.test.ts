import { expect, test } from 'vitest';

import { SpeechRecognition } from '../../../src/voice/recognition/speechRecognition.ts';
import type { Transcription } from '../../../src/voice/recognition/transcription.ts';

test('Timeouts and detectors get each frame, also where its transcription fails', () => {
  const framesMs: number[] = [];
  const transcription: Transcription = {
    push() {
      throw new Error('the recognizer is gone');
    },
    isOpen: false,
    request: () => Promise.reject(new Error('not requested here')),
    requestInterim: () => undefined,
    take: (requested) => requested,
    discard: () => undefined,
    close: () => undefined,
  };
  const recognition = new SpeechRecognition({
    sampleRateHz: 8000,
    startSamples: 0,
    detector: { isSpeech: () => false, close: () => undefined },
    transcription,
    agentFrame: () => undefined,
    onFrame: (_frame, atMs) => framesMs.push(atMs),
    onTranscript: () => undefined,
    onTranscriptionFailed: () => undefined,
  });
  for (let n = 0; n < 2; n++) {
    expect(() => recognition.push(new Int16Array(160))).toThrow('the recognizer is gone');
  }
  expect(framesMs).toEqual([20, 40]);
  recognition.close();
});
