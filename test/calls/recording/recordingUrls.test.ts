import { expect, test } from 'vitest';

import { createRecordingUrls } from '../../../src/calls/recording/recordingUrls.ts';

const urls = createRecordingUrls({
  secretsKey: Buffer.alloc(32, 1),
  publicUrl: () => 'https://callway.example',
  now: () => 0,
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
