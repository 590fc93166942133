import { expect, test } from 'vitest';

import { Playout } from '../../console/audio/playout.ts';
import { Resampler } from '../../console/audio/resampler.ts';
import { ChatFailedError, readChatStream } from '../../console/widget/chatStream.ts';

const tone = (hz: number, rateHz: number, samples: number) =>
  Float32Array.from({ length: samples }, (_, index) => Math.sin((2 * Math.PI * hz * index) / rateHz));

/** Root mean square, without the filter's beginning. */
function rms(samples: Float32Array): number {
  const settled = samples.subarray(200);
  return Math.sqrt(settled.reduce((sum, one) => sum + one * one, 0) / settled.length);
}

test.each([
  [44_100, 24_000],
  [48_000, 24_000],
  [24_000, 44_100],
  [24_000, 48_000],
  [16_000, 24_000],
])('Resampling from %d to %d Hz keeps speech, whatever the chunks', (fromHz, toHz) => {
  const input = tone(1000, fromHz, fromHz / 4);
  const whole = new Resampler(fromHz, toHz).process(input);
  expect(whole.length).toBeCloseTo(toHz / 4, -2);
  expect(rms(whole)).toBeCloseTo(Math.SQRT1_2, 2);
  const resampler = new Resampler(fromHz, toHz);
  const parts: number[] = [];
  for (let at = 0; at < input.length; at += 128) parts.push(...resampler.process(input.slice(at, at + 128)));
  expect(parts.length).toBe(whole.length);
  expect(Math.max(...parts.map((part, index) => Math.abs(part - (whole[index] ?? 0))))).toBeLessThan(1e-4);
});

test('Resampling to a lower rate removes what it cannot carry', () => {
  expect(rms(new Resampler(48_000, 24_000).process(tone(15_000, 48_000, 12_000)))).toBeLessThan(0.003);
});

test('The playout tells marks once the audio before them was played, and cleared ones at once', () => {
  const told: string[] = [];
  const playout = new Playout((name, outcome) => told.push(`${name} ${outcome} at ${playout.played}`));
  playout.mark('first');
  playout.play(Float32Array.of(1, 2, 3));
  playout.mark('second');
  playout.play(Float32Array.of(4));
  playout.mark('third');
  const out = new Float32Array(2);
  playout.next(out);
  expect([...out]).toEqual([1, 2]);
  playout.next(out.subarray(0, 1));
  expect(told).toEqual(['first played at 0', 'second played at 3']);
  playout.clear();
  playout.next(out);
  expect([...out]).toEqual([0, 0]);
  expect(told.slice(2)).toEqual(['third cleared at 3']);
  expect(playout.played).toBe(3);
});

test('A streamed answer is read in whatever pieces it comes, and a failure is told', async () => {
  const stream = (text: string) =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const byte of new TextEncoder().encode(text)) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      }),
    );
  const seen: string[] = [];
  const handlers = {
    onSession: (id: string) => seen.push(id),
    onText: (text: string) => seen.push(text),
  };
  const chunk = (content: string) =>
    `data: ${JSON.stringify({ session_id: 's', choices: [{ delta: { content } }] })}\n\n`;
  await readChatStream(stream(`: hello\n\n${chunk('您')}${chunk('好')}data: [DONE]\n\n`), handlers);
  expect(seen).toEqual(['s', '您', 's', '好']);
  const failed = stream('data: {"error": {"message": "gone"}}\n\n');
  await expect(readChatStream(failed, handlers)).rejects.toThrow(ChatFailedError);
});
