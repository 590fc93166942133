import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { RecognitionEvent } from '../../../src/models/ports/streamingSpeechToText.ts';
import { createDial } from '../../../src/models/sockets/dial.ts';
import { createCustomSpeechToText } from '../../../src/vendors/custom/speechToText.ts';
import { startRecognitionServer } from '../../models/support/scriptedRecognitionServer.ts';

test('The words, times and language of a transcript are read, under the subprotocol', async () => {
  const words = [{ word: 'hello', startMs: 0, endMs: 400 }];
  const transcript = { text: 'hello', words, confidence: 0.9, language: 'en' };
  const server = await startRecognitionServer({
    onOpen: () => server.send({ type: 'final', ...transcript }),
  });
  const dial = createDial(undefined);
  const recognizer = createCustomSpeechToText({ baseUrl: server.baseUrl, dial, clock: systemClock });
  const events: RecognitionEvent[] = [];
  const connection = recognizer.connect({ sampleRateHz: 8000 }, (event) => void events.push(event));
  await expect.poll(() => events).toMatchObject([{ type: 'connected' }, { type: 'final', transcript }]);
  expect(server.requests[0]?.headers).toMatchObject({ 'sec-websocket-protocol': 'stt.callway.v1' });
  connection.close();
});
