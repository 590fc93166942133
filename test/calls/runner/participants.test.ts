import { describe, expect, test } from 'vitest';

import type { LegOutcome } from '../../../src/calls/telephony.ts';
import { answerCall, CALL, END, leg, settle, t, useRunner } from './support/runnerRig.ts';

useRunner();

const TO = '+886223456780';
const NOBODY = { muted: false, held: false };

type Request = Parameters<typeof t.runner.perform>[1];

const perform = (name: string, argument?: object) =>
  t.runner.perform('call', { name, argument } as Request) ?? Promise.reject(new Error('no such call'));
const list = () => perform('list_participants');
const events = () =>
  t.log.flatMap((entry) => {
    const [kind, type, data] = entry as [string, string?, { action: string; reason?: string }?];
    return kind === 'event' && type === 'participant' && data ? [[data.action, data.reason]] : [];
  });
const ends = (index: number, outcome: LegOutcome) => leg(index).legEvents.emit('ended', { ...END, outcome });

/** An answered call with one person in it, whose leg is the second. */
async function withParticipant() {
  await answerCall();
  const added = await perform('add_participant', { to: TO });
  await settle();
  leg(1).legEvents.emit('ringing', { hasEarlyMedia: false });
  await leg(1).tells('answered', { atMs: 0 });
  return added as { id: string };
}

describe('A participant', () => {
  test('is dialed over the trunks of the call’s number, and joins the call on the answer', async () => {
    const { id } = await withParticipant();
    expect(t.dialed.at(-1)).toMatchObject({
      fromNumber: CALL.fromNumber,
      toNumber: TO,
      bridgeWith: leg().leg.media,
    });
    expect(t.log).toContainEqual(['join', 0]);
    const joinedAt = new Date(t.clock.now()).toISOString();
    expect(await list()).toEqual([{ id, to: TO, status: 'joined', ...NOBODY, joinedAt }]);
    t.clock.advance(5_000);
    ends(1, 'remote_hangup');
    await settle();
    expect(await list()).toEqual([]);
    expect(t.runner.active).toBe(1);
    expect(events()).toEqual([
      ['dialing', undefined],
      ['joined', undefined],
      ['left', 'hangup'],
    ]);
  });

  test('is whispered to once they have joined, alone or with all others', async () => {
    await answerCall();
    const { id } = (await perform('add_participant', { to: TO })) as { id: string };
    await settle();
    const whisper = (participantId?: string) =>
      perform('supervise', { mode: 'whisper', ...(participantId ? { participantId } : {}) });
    for (const named of [undefined, id])
      await expect(whisper(named)).rejects.toMatchObject({ code: 'no_human_party' });
    await leg(1).tells('answered', { atMs: 0 });
    await whisper();
    await whisper(id);
    expect(t.log.filter((entry) => String(entry).startsWith('admit'))).toEqual([
      ['admit', 'whisper', -1],
      ['admit', 'whisper', 1],
    ]);
    await expect(whisper('another')).rejects.toMatchObject({ code: 'participant_not_found' });
  });

  test('is shown while their phone rings, and muted from the beginning if so wanted', async () => {
    await answerCall();
    const { id } = (await perform('add_participant', { to: TO })) as { id: string };
    expect(await list()).toMatchObject([{ id, status: 'dialing', joinedAt: null }]);
    await settle();
    leg(1).legEvents.emit('ringing', { hasEarlyMedia: false });
    expect(await list()).toMatchObject([{ id, status: 'ringing' }]);
    expect(await perform('change_participant', { id, muted: true })).toMatchObject({
      muted: true,
      held: false,
    });
    await leg(1).tells('answered', { atMs: 0 });
    expect(t.log).toContainEqual(['participation', { isMuted: true, isHeld: false }]);
    expect(await perform('change_participant', { id, held: true })).toMatchObject({
      muted: true,
      held: true,
    });
    expect(t.log).toContainEqual(['participation', { isMuted: true, isHeld: true }]);
    await perform('change_participant', { id, held: true });
    expect(events().map(([action]) => action)).toEqual(['dialing', 'changed', 'joined', 'changed']);
  });

  test.each([
    ['busy', 'busy'],
    ['no_answer', 'no_answer'],
    ['declined', 'declined'],
  ] as const)('who is %s leaves the call as it is', async (outcome, reason) => {
    await answerCall();
    await perform('add_participant', { to: TO });
    await settle();
    ends(1, outcome);
    await settle();
    expect([await list(), t.runner.active]).toEqual([[], 1]);
    expect(events()).toEqual([
      ['dialing', undefined],
      ['left', reason],
    ]);
  });

  test('is dialed over the next trunk where one fails, and not at all over the project’s limits', async () => {
    await answerCall();
    await perform('add_participant', { to: TO });
    await settle();
    ends(1, 'unreachable');
    await settle();
    expect(t.dialed.slice(1).map(({ trunk }) => trunk.id)).toEqual(['a', 'b']);
    ends(2, 'busy');
    await settle();
    t.hasBudget = false;
    await perform('add_participant', { to: TO });
    await settle();
    expect(t.dialed).toHaveLength(3);
    expect(events().at(-1)).toEqual(['left', 'call_minutes_exhausted']);
  });

  test.each([
    ['before there is a leg', async () => {}],
    ['while their phone rings', settle],
    [
      'in the call',
      async () => {
        await settle();
        await leg(1).tells('answered', { atMs: 0 });
      },
    ],
  ])('is removed %s', async (_when, untilThen) => {
    await answerCall();
    const { id } = (await perform('add_participant', { to: TO })) as { id: string };
    await untilThen();
    await perform('remove_participant', { id });
    await settle();
    expect(t.log).toContainEqual(['hangup', 'a']);
    ends(1, 'local_hangup');
    await settle();
    expect(await list()).toEqual([]);
    expect(events().at(-1)).toEqual(['left', 'removed']);
  });

  test.each([
    ['mediaTimeout', 'media_timeout'],
    ['lost', 'media_lost'],
  ] as const)('whose media report %s is hung up', async (event, reason) => {
    await withParticipant();
    await leg(1).mediaTells(event, {} as never);
    expect(t.log.at(-1)).toEqual(['hangup', 'a']);
    ends(1, 'local_hangup');
    await settle();
    expect(events().at(-1)).toEqual(['left', reason]);
  });

  test('who is held hears music until they are let in again', async () => {
    const { id } = await withParticipant();
    const music = () => t.log.filter((entry) => /music/.test(String(entry)));
    const before = music().length;
    await perform('change_participant', { id, held: true });
    await settle();
    expect(music().slice(before)).toEqual([['music', 'default']]);
    await perform('change_participant', { id, held: false });
    await settle();
    expect(music().slice(before + 1)).toEqual([['stop music']]);
  });

  test.each([
    ['is hung up', true, 'failed'],
    ['who has just left is not', false, 'hangup'],
  ])('who cannot be joined %s', async (_what, isThere, reason) => {
    await answerCall();
    await perform('add_participant', { to: TO });
    await settle();
    const join = async () => {
      if (!isThere) ends(1, 'remote_hangup');
      throw new Error('no port');
    };
    Object.assign(leg(1).leg.media ?? {}, { join });
    const hangUps = () => t.log.filter((entry) => String(entry).startsWith('hangup')).length;
    await leg(1).tells('answered', { atMs: 0 });
    expect(hangUps()).toBe(isThere ? 1 : 0);
    if (isThere) ends(1, 'local_hangup');
    await settle();
    expect(events()).toEqual([
      ['dialing', undefined],
      ['left', reason],
    ]);
  });

  test('is billed beside the call', async () => {
    await withParticipant();
    t.clock.advance(15_000);
    await settle();
    expect(t.billed).toEqual([
      [
        [CALL.toNumber, 15_000],
        [TO, 15_000],
      ],
    ]);
  });
});

test('A call takes six participants', async () => {
  await answerCall();
  const add = () => perform('add_participant', { to: TO });
  for (let n = 0; n < 6; n++) await add();
  await expect(add()).rejects.toMatchObject({ category: 'conflict', code: 'too_many_participants' });
  expect(await list()).toHaveLength(6);
  await settle();
  ends(1, 'busy');
  await settle();
  await add();
});

test('Nobody is added before the answer or after the end, and nobody unknown is changed', async () => {
  await answerCall(async () => {
    await expect(list()).rejects.toMatchObject({ code: 'call_not_in_progress' });
  });
  const unknown = { id: 'somebody' };
  await expect(perform('change_participant', unknown)).rejects.toMatchObject({
    code: 'participant_not_found',
  });
  await expect(perform('remove_participant', unknown)).rejects.toMatchObject({
    code: 'participant_not_found',
  });
  t.runner.hangUp('call', 'api_hangup');
  await expect(list()).rejects.toMatchObject({ category: 'conflict', code: 'call_not_in_progress' });
});
