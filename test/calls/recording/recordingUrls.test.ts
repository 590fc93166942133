import { expect, test } from 'vitest';

import { createRecordingUrls } from '../../../src/calls/recording/recordingUrls.ts';

const STARTED_MS = Date.UTC(2026, 0, 1);
let nowMs = STARTED_MS;
const urls = createRecordingUrls({
  secretsKey: Buffer.alloc(32, 1),
  publicUrl: () => 'https://callway.example',
  now: () => nowMs,
});

test('A recording URL is valid with one spelling of its signature only', () => {
  const token = urls.sign('project/call.wav').split('/').at(-1) ?? '';
  expect(urls.verify(token)).toBe('project/call.wav');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  // 32 bytes leave two unused bits in the last of 43 characters: four characters decode to the same bytes.
  const others = [...alphabet].filter((last) => last !== token.at(-1));
  for (const last of others) {
    expect(() => urls.verify(token.slice(0, -1) + last)).toThrow('not valid');
  }
});

test('A recording URL is valid for an hour', () => {
  const token = urls.sign('call.wav').split('/').at(-1) ?? '';
  nowMs = STARTED_MS + 3_599_999;
  expect(urls.verify(token)).toBe('call.wav');
  nowMs = STARTED_MS + 3_600_000;
  expect(() => urls.verify(token)).toThrow('has expired');
});
