import { afterAll, beforeAll, expect, test } from 'vitest';

import { ERROR_TEXTS_ZH } from '../../console/src/api/errorTextsZh.ts';
import { findingTextZh } from '../../console/src/pages/agent/pathway/findingTextsZh.ts';
import { CODE_TEXTS } from '../../console/src/pages/calls/codeTexts.ts';
import { TRANSFER_MODES, TRANSFER_OUTCOMES } from '../../src/agents/transferOptions.ts';
import { ANSWERING_MACHINE, CALL_END_REASONS } from '../../src/calls/call.ts';
import { PARTICIPANT_ACTIONS } from '../../src/calls/participants/participant.ts';
import { RECORDING_ACTIONS, SUPERVISION_ACTIONS } from '../../src/calls/runner/supervisedCall.ts';
import { HISTORY_STATUSES, TRANSFER_STATUSES } from '../../src/calls/transfer/transferReport.ts';
import {
  type Channel,
  END_REASONS,
  HISTORY_EVENT_TYPES,
  type SessionStatus,
} from '../../src/engine/session/session.ts';
import { SUPERVISION_MODES } from '../../src/media/supervision/supervisorStream.ts';
import { TRUNK_FAILURE } from '../../src/telephony/trunks/monitors.ts';
import { SPEECH_KINDS } from '../../src/voice/speechProviders.ts';
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

/** What the API and a call's history name, by kind. */
const CODES_BY_KIND: Readonly<Record<keyof typeof CODE_TEXTS.en, readonly string[]>> = {
  event: HISTORY_EVENT_TYPES,
  callEnd: CALL_END_REASONS,
  sessionEnd: END_REASONS,
  sessionStatus: ['active', 'ended'] satisfies SessionStatus[],
  transferMode: TRANSFER_MODES,
  transferStatus: [...TRANSFER_STATUSES, ...HISTORY_STATUSES],
  transferOutcome: ['joined', ...TRANSFER_OUTCOMES],
  supervision: SUPERVISION_ACTIONS,
  supervisionMode: SUPERVISION_MODES,
  participant: PARTICIPANT_ACTIONS,
  recording: RECORDING_ACTIONS,
  answeringMachine: ANSWERING_MACHINE,
  channel: ['chat', 'phone', 'web'] satisfies Channel[],
  fallback: ['chat', ...SPEECH_KINDS],
  trunkError: [TRUNK_FAILURE],
};

test.each(Object.entries(CODES_BY_KIND))('Each code of %s has a text in both languages', (kind, codes) => {
  for (const kinds of Object.values(CODE_TEXTS)) {
    const texts = kinds[kind as keyof typeof CODES_BY_KIND];
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
