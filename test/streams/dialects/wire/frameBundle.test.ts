import { expect, test } from 'vitest';

import { createFrameBundle } from '../../../../src/streams/dialects/wire/frameBundle.ts';

test('Frame bundle sends two frames in one message, and copies them', () => {
  const sent: number[][] = [];
  const bundle = createFrameBundle(2, (message) => sent.push([...message]));
  const frame = Uint8Array.of(1, 2);
  for (const first of [1, 3, 5, 7]) {
    frame.set([first, first + 1]);
    bundle.add(frame);
  }
  expect(sent).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]);
});

test('Frame bundle sends a partial message at a flush, once', () => {
  const sent: number[][] = [];
  const bundle = createFrameBundle(2, (message) => sent.push([...message]));
  bundle.flush();
  bundle.add(Uint8Array.of(1, 2));
  bundle.flush();
  bundle.flush();
  bundle.add(Uint8Array.of(3, 4));
  bundle.add(Uint8Array.of(5, 6));
  expect(sent).toEqual([
    [1, 2],
    [3, 4, 5, 6],
  ]);
});

test('Frame bundle does not change a sent message', () => {
  const sent: Uint8Array[] = [];
  const bundle = createFrameBundle(2, (message) => sent.push(message));
  for (const byte of [1, 2, 3, 4]) bundle.add(Uint8Array.of(byte, byte));
  expect(sent.map((message) => [...message])).toEqual([
    [1, 1, 2, 2],
    [3, 3, 4, 4],
  ]);
});
