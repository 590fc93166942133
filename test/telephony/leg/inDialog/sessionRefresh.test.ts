import { expect, test } from 'vitest';
import { parseText } from '../../../../sip/message/parse.ts';
import type { ReceivedResponse } from '../../../../src/telephony/control/connection.ts';
import type { Dialog, DialogRequestParts } from '../../../../src/telephony/leg/dialog.ts';
import {
  createSessionRefresh,
  type Refresher,
} from '../../../../src/telephony/leg/inDialog/sessionRefresh.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';
import { unused } from '../../../support/unused.ts';

const OURS = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\n';
const okWith = (header: string, body = '') => parseText(`SIP/2.0 200 OK\r\n${header}\r\n\r\n${body}`);

function scene({ takesUpdate = true, replies = [] as string[] } = {}) {
  const clock = createSimulatedClock();
  const sent: { method: string; parts: DialogRequestParts | undefined }[] = [];
  const answers: string[] = [];
  const errors: string[] = [];
  const refresh = createSessionRefresh({
    clock,
    takesUpdate: () => takesUpdate,
    description: () => OURS,
    onAnswer: (description) => answers.push(description),
    onError: (_error, what) => errors.push(what),
    dialog: unused<Dialog>('dialog', {
      async request(method, parts) {
        sent.push({ method, parts });
        const raw = replies.shift();
        if (raw === undefined) throw new Error('the dialog is gone');
        return reply(raw);
      },
    }),
  });
  return { clock, sent, answers, errors, refresh };
}

function reply(raw: string): ReceivedResponse {
  const message = parseText(raw);
  if (message.kind !== 'response') throw new Error('not a response');
  return {
    message,
    isFromPeer: true,
    source: { address: '127.0.0.1', port: 5060 },
    acknowledge: () => undefined,
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test.each<[string, string, Refresher, number | undefined]>([
  ['our INVITE, which we refresh', 'Session-Expires: 90;refresher=uac', 'uac', 36_000],
  ['our INVITE, in the compact form', 'x: 1800 ; refresher=UAC', 'uac', 720_000],
  ['our INVITE, without a refresher', 'Session-Expires: 90', 'uac', 36_000],
  ['our INVITE, which the peer refreshes', 'Session-Expires: 90;refresher=uas', 'uac', undefined],
  ['our 200, by which we refresh', 'Session-Expires: 90;refresher=uas', 'uas', 36_000],
  ['our 200, by which the caller refreshes', 'Session-Expires: 90;refresher=uac', 'uas', undefined],
  ['a session without a timer', 'Allow: INVITE', 'uac', undefined],
  ['what is no number', 'Session-Expires: soon;refresher=uac', 'uac', undefined],
])('%s', (_what, header, weAre, afterMs) => {
  const { clock, refresh, sent } = scene();
  refresh.onAgreed(okWith(header), weAre);
  if (afterMs === undefined) return expect(clock.pendingTimers()).toBe(0);
  clock.advance(afterMs - 1);
  expect(sent).toEqual([]);
  clock.advance(1);
  return expect(sent.map(({ method }) => method)).toEqual(['UPDATE']);
});

test('Each accepted refresh schedules the next by its Session-Expires', async () => {
  const replies = ['SIP/2.0 200 OK\r\nSession-Expires: 200;refresher=uac\r\n\r\n', 'SIP/2.0 200 OK\r\n\r\n'];
  const { clock, refresh, sent } = scene({ replies });
  refresh.onAgreed(okWith('Session-Expires: 100;refresher=uac'), 'uac');
  clock.advance(40_000);
  await settled();
  clock.advance(80_000);
  await settled();
  expect(sent.map(({ parts }) => parts?.headers?.['Session-Expires'])).toEqual([
    '100;refresher=uac',
    '200;refresher=uac',
  ]);
  expect(clock.pendingTimers()).toBe(0);
});

test('A peer without UPDATE is refreshed by re-INVITE, and its answer is applied', async () => {
  const theirs = 'v=0\r\no=- 2 2 IN IP4 127.0.0.1\r\n';
  const replies = [`SIP/2.0 200 OK\r\nSession-Expires: 90;refresher=uas\r\n\r\n${theirs}`];
  const { clock, refresh, sent, answers } = scene({ takesUpdate: false, replies });
  refresh.onAgreed(okWith('Session-Expires: 90;refresher=uac'), 'uac');
  clock.advance(36_000);
  await settled();
  expect(sent).toMatchObject([{ method: 'INVITE', parts: { body: OURS } }]);
  expect(answers).toEqual([theirs]);
  expect(clock.pendingTimers()).toBe(0);
});

test('A rejected or failed refresh is left to the SIP server', async () => {
  const { clock, refresh, errors } = scene({ replies: ['SIP/2.0 403 Forbidden\r\n\r\n'] });
  for (const told of [0, 1]) {
    refresh.onAgreed(okWith('Session-Expires: 90'), 'uac');
    clock.advance(36_000);
    await settled();
    expect([clock.pendingTimers(), errors.length]).toEqual([0, told]);
  }
});

test('stop() cancels the refresh', () => {
  const { clock, refresh, sent } = scene();
  refresh.onAgreed(okWith('Session-Expires: 90'), 'uac');
  refresh.stop();
  clock.advance(90_000);
  expect(sent).toEqual([]);
});
