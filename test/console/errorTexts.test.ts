import { afterAll, beforeAll, expect, test } from 'vitest';

import { ERROR_TEXTS_ZH } from '../../console/src/api/errorTextsZh.ts';
import { findingTextZh } from '../../console/src/pages/agent/pathway/findingTextsZh.ts';
import { END_REASON_TEXTS } from '../../console/src/pages/calls/endReasonTexts.ts';
import { startTestServer, type TestServer } from '../support/httpServer.ts';

/** Such as 409 `test_run_ended`, also the second one of a list. */
const CODES = /\b[45]\d\d ((?:`[a-z_]+`(?:, | or )?)+)/g;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test('Each error that the API document names has a Chinese text', async () => {
  const { body } = await server.send('GET', '/openapi.json', { key: null });
  const lists = Array.from(JSON.stringify(body).matchAll(CODES), ([, list = '']) => list);
  const codes = lists.flatMap((list) => Array.from(list.matchAll(/[a-z_]+(?=`)/g), ([code]) => code));
  expect(codes.length).toBeGreaterThan(20);
  expect(codes.filter((code) => !(code in ERROR_TEXTS_ZH))).toEqual([]);
});

test('Each end reason that the API document names has a text in both languages', async () => {
  const { body } = await server.send('GET', '/openapi.json', { key: null });
  const { anyOf } = body.components.schemas.Call.properties.endReason;
  const codes: string[] = anyOf.flatMap((one: { enum?: string[] }) => one.enum ?? []);
  expect(codes).toContain('caller_hangup');
  for (const texts of Object.values(END_REASON_TEXTS)) {
    expect(Object.keys(texts).sort()).toEqual([...codes].sort());
    expect(new Set(Object.values(texts)).size).toBe(codes.length);
  }
});

test('A Chinese text ends as a sentence, or with what follows it', () => {
  expect(Object.values(ERROR_TEXTS_ZH).filter((text) => !/[。：]$/.test(text))).toEqual([]);
});

test('A review finding is shown in Chinese, with its name', () => {
  const message = 'the conversation stops at "$& \\"x\\""; add an outgoing edge';
  expect(findingTextZh('dead_end', message)).toBe('對話會停在 "$& \\"x\\""，請加上出去的連線。');
  expect(findingTextZh('new_code', message)).toBeUndefined();
});
