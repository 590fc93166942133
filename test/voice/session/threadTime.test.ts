import { expect, test } from 'vitest';
import { scriptedRecognizer } from '../support/scriptedRecognizer.ts';
import { eventsOf, GREETING, greeted, simulatedCall } from '../support/simulatedCall.ts';

/** A call whose interim transcripts take so long each. @param isComputing - Whether the process computes meanwhile. */
function slowCall(heldMs: number, isComputing = true) {
  const speechToText = scriptedRecognizer(true);
  let totalMs = 0;
  const call = simulatedCall({
    answer: () => GREETING,
    speechToText,
    withDeps: ({ clock }) => ({
      clock: { ...clock, monotonicMs: () => clock.monotonicMs() + totalMs },
      cpuMs: () => (isComputing ? totalMs : 0),
      liveEvents: {
        publish({ type }) {
          if (type === 'transcript.interim') totalMs += heldMs;
        },
      },
    }),
  });
  /** Each 20 ms, as the recognizer's messages come. */
  const hear = async (interims: number) => {
    call.stream.speak(call.caller.say('and so on', interims * 20));
    for (let n = 0; n < interims; n++) {
      await call.stream.advance(20);
      speechToText.interim(`and ${n}`);
    }
  };
  return { call, hear };
}

test('A session that holds its thread ends with an apology, and is named in the log', async () => {
  const { call, hear } = slowCall(400);
  await greeted(call);
  await hear(30);
  await call.stream.until(() => call.stream.commands.length > 0);
  expect(call.stream.commands).toEqual([{ kind: 'hangup', reason: 'error' }]);
  expect(call.transcript().join()).toContain('something is not working');
  expect(call.sessionEvents).toMatchObject([{ type: 'error', data: { code: 'thread_held' } }]);
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('failed');
});

test('A session that takes a quarter of its thread for ten seconds goes on', async () => {
  const { call, hear } = slowCall(7);
  await greeted(call);
  await hear(500);
  expect(call.stream.commands).toEqual([]);
  expect(eventsOf(call, 'error')).toEqual([]);
});

test('A session on a machine that stands still goes on', async () => {
  const { call, hear } = slowCall(400, false);
  await greeted(call);
  await hear(30);
  expect(call.stream.commands).toEqual([]);
});
