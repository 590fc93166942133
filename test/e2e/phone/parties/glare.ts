import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';

import { header, SDP } from '../../../sip/support/phone.ts';
import { type Handset, openHandset } from '../support/handset.ts';
import { type Line, newNumber, type PlacedCall, SLOW } from '../support/line.ts';
import { ALL_EVENTS, EVENTS_WITHOUT_RECORDING } from '../support/webhooks.ts';
import { installation } from './installation.ts';

const TIMEOUT = 120_000;

interface Ringing {
  readonly line: Line;
  readonly call: PlacedCall;
  readonly toNumber: string;
  readonly handset: Handset;
  readonly invite: string;
}

/** A call whose INVITE has reached its phone. */
async function reached(trunk: object = {}): Promise<Ringing> {
  const handset = await openHandset(installation());
  const line = await installation().makeLine({ trunks: [{ port: handset.port, ...trunk }] });
  const toNumber = newNumber();
  const call = await line.call({ toNumber });
  return { line, call, toNumber, handset, invite: await handset.nextCall() };
}

async function ringing(trunk?: object): Promise<Ringing> {
  const call = await reached(trunk);
  call.handset.answer(call.invite, '180 Ringing');
  await call.line.waitForStatus(call.call, 'ringing');
  return call;
}

/** @returns Our 200, sent when the phone's caller was answered. */
async function taken(call: Ringing): Promise<string> {
  const accepted = call.handset.answer(call.invite, '200 OK', SDP);
  await call.handset.next('ACK');
  await call.line.waitForStatus(call.call, 'in_progress');
  return accepted;
}

const hangUp = ({ line, call }: Pick<Ringing, 'line' | 'call'>) =>
  line.api('POST', `/calls/${call.callId}/hangup`);

/** The call ended this way, sent its events once and in order, and released everything it held. */
async function expectOver({ line, call, toNumber, handset }: Ringing, ...ends: string[]): Promise<void> {
  const seen = await line.waitForEnd(call);
  expect(ends).toContain([seen.status, seen.endReason].join());
  expect(await line.waitForFinalized(call)).toEqual(
    seen.answeredAt === null ? EVENTS_WITHOUT_RECORDING : ALL_EVENTS,
  );
  const times = [seen.createdAt, seen.startedAt, seen.answeredAt, seen.endedAt].filter((at) => at !== null);
  expect(times).toEqual(times.toSorted());
  expect(seen.durationMs).toBe(
    seen.answeredAt === null ? 0 : Date.parse(seen.endedAt) - Date.parse(seen.answeredAt),
  );
  for (const trunkId of line.trunkIds) {
    const channels = async () => (await line.api('GET', `/trunks/${trunkId}`)).body.health.channelsInUse;
    await vi.waitFor(async () => expect(await channels()).toBe(0), SLOW);
  }
  const again = await line.call({ toNumber });
  handset.answer(await handset.nextCall(), '486 Busy Here');
  const { status, endReason } = await line.waitForEnd(again);
  expect([status, endReason]).toEqual(['busy', null]);
}

describe.concurrent('an outbound call', { timeout: TIMEOUT }, () => {
  test('ends although its 487 is lost', async () => {
    const call = await ringing();
    await hangUp(call);
    call.handset.answer(await call.handset.next('CANCEL'), '200 OK');
    await expectOver(call, 'canceled,api_hangup');
    // The 487 arrives late.
    call.handset.answer(call.invite, '487 Request Terminated');
    await call.handset.next('ACK');
  });

  test('answered long after its CANCEL is hung up', async () => {
    const call = await ringing();
    await hangUp(call);
    call.handset.answer(await call.handset.next('CANCEL'), '200 OK');
    await call.line.waitForEnd(call.call);
    call.handset.answer(call.invite, '200 OK', SDP);
    await call.handset.next('ACK');
    call.handset.answer(await call.handset.next('BYE'), '200 OK');
    await expectOver(call, 'canceled,api_hangup');
  });

  test('hung up by both sides at once ends once', async () => {
    const call = await ringing();
    const accepted = await taken(call);
    const answer = hangUp(call);
    const bye = await call.handset.next('BYE');
    call.handset.request('BYE', call.invite, accepted);
    call.handset.answer(bye, '481 Call/Transaction Does Not Exist');
    expect((await answer).status).toBe(200);
    await expectOver(call, 'completed,api_hangup', 'completed,caller_hangup');
  });

  test('hung up by the phone before our ACK arrived counts as answered', async () => {
    const call = await ringing();
    const accepted = call.handset.answer(call.invite, '200 OK', SDP);
    call.handset.request('BYE', call.invite, accepted);
    await call.handset.next('200');
    await expectOver(call, 'completed,caller_hangup');
  });

  test('acknowledges the repeated 200 when its ACK was lost, and continues', async () => {
    const call = await ringing();
    const accepted = await taken(call);
    for (let repeated = 0; repeated < 3; repeated += 1) {
      call.handset.send(accepted);
      await call.handset.next('ACK');
    }
    expect((await call.line.readCall(call.call)).status).toBe('in_progress');
    call.handset.request('BYE', call.invite, accepted);
    await expectOver(call, 'completed,caller_hangup');
  });
});

describe.concurrent('a transfer by a second leg', { timeout: TIMEOUT }, () => {
  /** A caller in conversation, and the phone that rings for them. */
  async function transferring() {
    const call = await ringing({ transfer: 'second_leg' });
    const accepted = await taken(call);
    const to = newNumber();
    expect((await call.line.api('POST', `/calls/${call.call.callId}/transfer`, { to })).status).toBe(202);
    const second = await call.handset.nextCall();
    call.handset.answer(second, '180 Ringing');
    return { ...call, accepted, second };
  }

  test.each([0, 10])(
    'leaves no party alone when the other phone answers and hangs up after %i ms',
    async (ms) => {
      const call = await transferring();
      const accepted = call.handset.answer(call.second, '200 OK', SDP);
      await sleep(ms);
      call.handset.request('BYE', call.second, accepted);
      const bye = await call.handset.next('BYE', '', 1500).catch(() => undefined);
      // Either the two were bridged and end together, or the agent has the caller again.
      if (bye) {
        call.handset.answer(bye, '200 OK');
        return await expectOver(call, 'completed,transferred');
      }
      const again = await call.line.api('POST', `/calls/${call.call.callId}/transfer`, { to: newNumber() });
      expect(again.status).toBe(202);
      call.handset.answer(await call.handset.nextCall(), '486 Busy Here');
      call.handset.request('BYE', call.invite, call.accepted);
      await expectOver(call, 'completed,caller_hangup');
    },
  );

  test('releases the other phone when the caller hangs up, even at the moment of its answer', async () => {
    const call = await transferring();
    call.handset.request('BYE', call.invite, call.accepted);
    const accepted = call.handset.answer(call.second, '200 OK', SDP);
    const bye = await call.handset.next('BYE');
    expect(header(bye, 'To')).toBe(header(accepted, 'To'));
    call.handset.answer(bye, '200 OK');
    await expectOver(call, 'completed,caller_hangup', 'completed,transferred');
  });
});

describe.concurrent('a caller', { timeout: TIMEOUT }, () => {
  /** A caller, up to the answer. */
  async function calling() {
    const handset = await openHandset(installation());
    const line = await installation().makeLine({
      trunks: [{ port: handset.port, inboundCidrs: ['127.0.0.1/32'], optionsIntervalSeconds: 1 }],
      number: { inboundEnabled: true },
    });
    // The node knows the trunk now.
    await handset.next('OPTIONS');
    const uri = `sip:${line.number}@127.0.0.1:${installation().sipPort}`;
    const callId = `glare-${line.number}`;
    const branch = `z9hG4bK-${callId}`;
    const invite = { callId, branch, uri, to: `<${uri}>` };
    const own = async () => (await line.api('GET', '/calls?direction=inbound')).body.data;
    return { handset, line, invite, own, begin: () => void handset.call('INVITE', { ...invite, body: SDP }) };
  }
  type Caller = Awaited<ReturnType<typeof calling>>;

  /** Every call that was created has ended this way; there may be none. */
  async function expectInbound({ line, own }: Caller, ...ends: string[]): Promise<void> {
    await vi.waitFor(async () => {
      for (const { endedAt } of await own()) expect(endedAt).not.toBeNull();
    }, SLOW);
    for (const { id, sessionId, status, endReason, answeredAt } of await own()) {
      expect(ends).toContain([status, endReason].join());
      const told = await line.waitForFinalized({ callId: id, sessionId });
      expect(told).toEqual(answeredAt === null ? EVENTS_WITHOUT_RECORDING : ALL_EVENTS);
    }
    const channels = async () =>
      (await line.api('GET', `/trunks/${line.trunkIds[0]}`)).body.health.channelsInUse;
    await vi.waitFor(async () => expect(await channels()).toBe(0), SLOW);
  }

  test.each([0, 12])('that cancels %i ms after the INVITE leaves an ended call or none', async (ms) => {
    const caller = await calling();
    const { handset, invite } = caller;
    caller.begin();
    await sleep(ms);
    handset.call('CANCEL', invite);
    const answer = await handset.next('(?:200|487)', 'INVITE');
    const to = header(answer, 'To');
    const isTaken = answer.startsWith('SIP/2.0 200');
    handset.call('ACK', { ...invite, to, ...(isTaken ? { branch: `${invite.branch}-ack` } : {}) });
    if (isTaken) {
      handset.call('BYE', { ...invite, to, cseq: 2, branch: `${invite.branch}-bye` });
      await handset.next('200', 'BYE');
    }
    // The call may still be on its way into the database.
    await sleep(300);
    await expectInbound(caller, 'canceled,caller_hangup', 'completed,caller_hangup');
  });

  test('that hangs up right after the ACK was answered', async () => {
    const caller = await calling();
    const { handset, invite } = caller;
    caller.begin();
    const to = header(await handset.next('200'), 'To');
    handset.call('ACK', { ...invite, to, branch: `${invite.branch}-ack` });
    handset.call('BYE', { ...invite, to, cseq: 2, branch: `${invite.branch}-bye` });
    await handset.next('200', 'BYE');
    await expectInbound(caller, 'completed,caller_hangup');
  });

  test('that hangs up without an ACK leaves no call behind', async () => {
    const caller = await calling();
    const { handset, invite } = caller;
    caller.begin();
    const to = header(await handset.next('200'), 'To');
    handset.call('BYE', { ...invite, to, cseq: 2, branch: `${invite.branch}-bye` });
    await handset.next('200', 'BYE');
    await expectInbound(caller, 'canceled,caller_hangup');
  });

  test('whose ACK is lost gets our 200 again, and the call continues', async () => {
    const caller = await calling();
    const { handset, invite } = caller;
    caller.begin();
    await handset.next('200');
    const to = header(await handset.next('200'), 'To');
    handset.call('ACK', { ...invite, to, branch: `${invite.branch}-ack` });
    await vi.waitFor(async () => expect((await caller.own())[0].status).toBe('in_progress'), SLOW);
    handset.call('BYE', { ...invite, to, cseq: 2, branch: `${invite.branch}-bye` });
    await expectInbound(caller, 'completed,caller_hangup');
  });
});

describe('an API hang-up at any moment of call setup', { timeout: TIMEOUT }, () => {
  /** 100 Trying, ringing, early media, the answer. */
  const STEPS: readonly (readonly [atMs: number, status: string, body?: string])[] = [
    [300, '100 Trying'],
    [800, '180 Ringing'],
    [1600, '183 Session Progress', SDP],
    [2600, '200 OK', SDP],
  ];
  const MOMENTS = Array.from({ length: Number(process.env.GLARE_MOMENTS ?? 5) }, (_, index) => index);
  const EVERY_MS = 4000 / MOMENTS.length;

  test(`${MOMENTS.length} calls, each hung up a step later`, async () => {
    await Promise.all(
      MOMENTS.map(async (index) => {
        const call = await reached();
        const { handset, invite } = call;
        let isOver = false;
        handset.onRequest('CANCEL', (cancel) => {
          isOver = true;
          handset.answer(cancel, '200 OK');
          handset.answer(invite, '487 Request Terminated');
        });
        handset.onRequest('BYE', (bye) => void handset.answer(bye, '200 OK'));
        for (const [atMs, status, body] of STEPS) {
          setTimeout(() => {
            if (!isOver) handset.answer(invite, status, body);
          }, atMs);
        }
        await sleep(index * EVERY_MS);
        const answer = await hangUp(call);
        expect(answer.status).toBe(200);
        isOver ||= answer.body.status === 'canceled';
        await expectOver(call, 'canceled,api_hangup', 'completed,api_hangup');
      }),
    );
  });
});
