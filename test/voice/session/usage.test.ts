import { expect, test } from 'vitest';
import { simulatedCall } from '../support/simulatedCall.ts';

test('What speech used is stored with the next turn, and after the last one with the call', async () => {
  const call = simulatedCall({ answer: () => ({ text: 'Hello.' }) });
  call.tally.add({ 'recognitionMs/local': 700 });
  await call.stream.until(() => call.isAgentSpeaking());
  await call.stream.until(() => !call.isAgentSpeaking());
  await call.stream.advance(500);
  expect(call.memory.records.at(-1)?.used).toMatchObject({
    'recognitionMs/local': 700,
    'inputTokens/m-balance': 10,
  });
  call.tally.add({ 'synthesisCharacters/local': 30 });
  await call.hangUp();
  expect(call.addedUsage).toEqual([{ 'synthesisCharacters/local': 30 }]);
});
