import { expect, test } from 'vitest';
import { createBreakers } from '../../src/models/failover/circuitBreaker.ts';
import { ModelError } from '../../src/models/ports/modelError.ts';
import { SpeechPreview } from '../../src/voice/speechPreview.ts';
import { candidate } from '../models/support/candidate.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { scriptedSynthesizer } from './support/scriptedSynthesizer.ts';

function previewBy(synthesizer = scriptedSynthesizer()) {
  const clock = createSimulatedClock();
  const used: unknown[] = [];
  let open = 0;
  const preview = new SpeechPreview({
    providers: {
      counted: (_projectId, vendors) => vendors,
      open() {
        open += 1;
        return {
          recognizers: async () => [],
          synthesizers: async () => [candidate(synthesizer)],
          ownDefaults: async () => ({ recognition: false, synthesis: false }),
          breakers: createBreakers(clock),
          close() {
            open -= 1;
          },
        };
      },
    },
    requireCharacters: async () => undefined,
    usage: { add: (projectId, amounts) => void used.push([projectId, amounts]) },
    clock,
  });
  const gone = new AbortController();
  const say = (projectId = 'p', text = 'Good morning.') => preview.say(projectId, text, {}, gone.signal);
  return { clock, synthesizer, say, gone, used, open: () => open };
}

const samples = (seconds: number) => ({
  type: 'samples' as const,
  samples: new Int16Array(8000 * seconds).fill(900),
});
const settled = () => new Promise(setImmediate);

test('A preview is the whole speech of the first provider, and its characters are counted', async () => {
  const { say, used, open } = previewBy();
  const spoken = await say();
  expect([spoken.samples.length, spoken.sampleRateHz]).toEqual([3200, 8000]);
  expect([used, open()]).toEqual([[['p', { characters: 13 }]], 0]);
});

test.each([
  ['does not speak', 'speech_unavailable', 10_000, []],
  ['stops in the middle', 'speech_unavailable', 10_000, [samples(1)]],
  ['does not end', 'speech_unavailable', 0, [samples(11), samples(11)]],
  ['returns silence', 'speech_unavailable', 0, [{ type: 'done' as const }]],
  [
    ...['refuses the voice', 'speech_rejected'],
    0,
    [{ type: 'failed' as const, error: new ModelError('model_rejected', 'no such voice') }],
  ],
] as const)(
  'A provider that %s fails the preview as %s, without use',
  async (_what, code, waitMs, events) => {
    const { clock, synthesizer, say, used, open } = previewBy();
    synthesizer.isManual = true;
    const spoken = say();
    const failed = expect(spoken).rejects.toMatchObject({ code });
    await settled();
    for (const event of events) synthesizer.requests[0]?.emit(event);
    await settled();
    clock.advance(waitMs);
    await failed;
    expect([used, open(), clock.pendingTimers()]).toEqual([[], 0, 0]);
  },
);

test.each([
  ['nothing_to_say', '…'],
  ['text_too_long', 'a'.repeat(2001)],
])('A text is refused with %s before any provider is asked', async (code, text) => {
  const { synthesizer, say, used } = previewBy();
  await expect(say('p', text)).rejects.toMatchObject({
    code,
    category: 'invalid',
    details: [{ path: '/text' }],
  });
  await say('p', 'a'.repeat(2000));
  expect([synthesizer.requests.length, used]).toEqual([1, [['p', { characters: 2000 }]]]);
});

test('A provider that sends a little at a time holds its place for a minute', async () => {
  const { clock, synthesizer, say, open } = previewBy();
  synthesizer.isManual = true;
  const failed = expect(say()).rejects.toMatchObject({ code: 'speech_unavailable' });
  await settled();
  for (let seconds = 0; seconds < 60; seconds += 6) {
    synthesizer.requests[0]?.emit({ type: 'samples', samples: new Int16Array(8) });
    await settled();
    clock.advance(6_000);
  }
  await failed;
  expect([open(), clock.pendingTimers()]).toEqual([0, 0]);
});

test('A client that disconnects ends its preview', async () => {
  const { synthesizer, say, gone, used, open } = previewBy();
  synthesizer.isManual = true;
  const ended = expect(say()).rejects.toThrow('gone');
  await settled();
  gone.abort(new Error('gone'));
  await ended;
  expect([used, open()]).toEqual([[], 0]);
});

test('A project has two previews at once and eight that wait; others have theirs', async () => {
  const { synthesizer, say } = previewBy();
  synthesizer.isManual = true;
  const spoken = Array.from({ length: 10 }, () => say());
  await expect(say()).rejects.toMatchObject({ code: 'project_busy' });
  const others = say('other');
  await settled();
  expect(synthesizer.requests).toHaveLength(3);
  for (let n = 0; n < 11; n++) {
    synthesizer.requests[n]?.emit(samples(1));
    synthesizer.requests[n]?.emit({ type: 'done' });
    await settled();
  }
  await Promise.all([...spoken, others]);
});
