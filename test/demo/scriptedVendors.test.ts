import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/values/clock.ts';
import { tryRecognition } from '../../src/cli/doctor/speech/tryRecognition.ts';
import { trySynthesis } from '../../src/cli/doctor/speech/trySynthesis.ts';
import { ANSWERS, CALLEE_LINES, LATENCIES } from '../../src/demo/scripted/scriptedCall.ts';
import { startScriptedVendors } from '../../src/demo/scripted/scriptedVendors.ts';
import { STT_PROVIDERS, TTS_PROVIDERS } from '../../src/vendors/registry.ts';
import { tone } from '../media/support/signals.ts';

test('The scripted vendors know the call, and take no less than their latencies', async () => {
  const vendors = await startScriptedVendors();
  onTestFinished(() => vendors.close());
  const options = {
    credentials: { baseUrl: vendors.url },
    clock: systemClock,
    timeoutMs: 10_000,
    searchPath: '',
    warn: () => undefined,
  };
  const recognizer = await STT_PROVIDERS.custom(options);
  const synthesizer = await TTS_PROVIDERS.custom(options);
  onTestFinished(() => Promise.all([recognizer.close(), synthesizer.close()]).then(() => undefined));
  const sample = { text: '', samples: tone(16_000, 1000, 8000), sampleRateHz: 16_000 };
  const body = {
    model: 'm',
    messages: [
      { role: 'user', content: 'Yes.' },
      { role: 'user', content: 'A cake.' },
    ],
  };
  const [heard, spoken, answer] = await Promise.all([
    tryRecognition(recognizer, sample, systemClock),
    trySynthesis(synthesizer, ANSWERS[2], systemClock),
    fetch(`${vendors.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) }).then((one) =>
      one.text(),
    ),
  ]);
  // On a busy machine the sample may have gaps that end a turn.
  expect(CALLEE_LINES).toContain(heard.heard);
  // The clock of a timer may be a millisecond early.
  expect(spoken.firstAudioMs).toBeGreaterThanOrEqual(LATENCIES.firstSampleMs - 2);
  expect(spoken.audioMs).toBeGreaterThan(2000);
  expect(answer).toContain('pleasure');
  expect(answer).toMatch(/"name":"end_call".*\n\ndata: .*"finish_reason":"tool_calls".*\n\ndata: \[DONE\]/);
});
