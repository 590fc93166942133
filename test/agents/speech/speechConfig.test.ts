import { expect, test } from 'vitest';
import { speech } from '../../../src/agents/speech/speechConfig.ts';

test.each([
  [{ recognition: { provider: 'deepgram', options: { eot_threshold: 0.7 } } }, undefined],
  [{ recognition: { provider: 'deepgram', model: 'nova-3', options: { smart_format: true } } }, undefined],
  [{ recognition: { provider: 'openai', options: { batch: true } } }, undefined],
  [{ recognition: { provider: 'custom', options: { beam: 5 } } }, undefined],
  [{ synthesis: { provider: 'elevenlabs', options: { stability: 0.5 } } }, undefined],
  // Checked where the provider is known.
  [{ recognition: { options: { eot_threshold: 0.7 } } }, undefined],
  [
    { recognition: { provider: 'deepgram', options: { smart_format: true } } },
    'smart_format is no option of deepgram',
  ],
  [
    { recognition: { provider: 'deepgram', options: { eot_threshold: 7 } } },
    'eot_threshold is wrong: Too big',
  ],
  [
    { recognition: { provider: 'openai', options: { batch: true, delay: 'low' } } },
    'delay is no option of openai',
  ],
  [{ synthesis: { provider: 'local', options: { stability: 0.5 } } }, 'stability is no option of local'],
  [
    { fallback: { synthesis: [{ provider: 'cartesia', options: { stability: 1 } }] } },
    'stability is no option of cartesia',
  ],
])('Options are those of their provider: %j', (config, expected) => {
  const [issue] = speech.safeParse(config).error?.issues ?? [];
  const found = issue?.message.replace('{field}', String(issue.path.at(-1)));
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(expected);
});
