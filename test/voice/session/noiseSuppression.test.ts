import { expect, test } from 'vitest';
import type { NoiseSuppression } from '../../../src/models/ports/noiseSuppression.ts';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { GREETING, greeted, nodeWith, simulatedCall } from '../support/simulatedCall.ts';

const LOUD = 2000;
const CLEANED = 7;

/** What the recognizer is given of a caller who speaks loudly. */
async function heardBy(given: { agent?: boolean; node?: boolean; number?: boolean }) {
  const heard = new Set<number>();
  const scripted = scriptedRecognizer(true);
  const recognizer = {
    ...scripted,
    connect(...[options, onEvent]: Parameters<typeof scripted.connect>) {
      const push = (samples: Int16Array) => void heard.add(samples[0] ?? 0);
      return { ...scripted.connect(options, onEvent), push };
    },
  };
  let open = 0;
  const noiseSuppression: NoiseSuppression = {
    async open() {
      open += 1;
      return {
        process: (frame) => new Int16Array(frame.length).fill(CLEANED),
        close() {
          open -= 1;
        },
      };
    },
  };
  const { agent, node, number } = given;
  const call = simulatedCall({
    answer: () => GREETING,
    speechToText: recognizer,
    noiseSuppression,
    agent: { speech: { noiseSuppression: agent } },
    pathway: nodeWith({ speech: { noiseSuppression: node } }),
    session: { noiseSuppression: number },
  });
  await greeted(call);
  heard.clear();
  call.stream.speak(new Int16Array(8000).fill(LOUD));
  await call.stream.advance(900);
  await call.stream.hangUp();
  // The last words are waited for.
  call.clock.advance(1000);
  await call.report;
  expect(open).toBe(0);
  return [...heard];
}

test.each([
  [{}, 'the noise', LOUD],
  [{ agent: true }, 'no noise', CLEANED],
  [{ node: true }, 'no noise', CLEANED],
  [{ agent: true, node: false }, 'the noise', LOUD],
  [{ number: true }, 'no noise', CLEANED],
  [{ agent: true, number: false }, 'the noise', LOUD],
  [{ number: false, node: true }, 'no noise', CLEANED],
])('noiseSuppression of %j: the recognition hears %s', async (given, _, expected) => {
  expect(await heardBy(given)).toEqual([expected]);
});
