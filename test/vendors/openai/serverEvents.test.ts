import { expect, test } from 'vitest';

import { readServerEvent } from '../../../src/vendors/openai/realtime/serverEvents.ts';

test('A token count that is no whole number counts as none', () => {
  const usage = { input_tokens: 30, output_tokens: 12.5, input_token_details: { cached_tokens: null } };
  expect(readServerEvent(JSON.stringify({ type: 'response.done', response: { usage } }))).toMatchObject({
    response: {
      usage: {
        input_tokens: 30,
        output_tokens: 0,
        total_tokens: 0,
        input_token_details: { cached_tokens: 0 },
      },
    },
  });
});
