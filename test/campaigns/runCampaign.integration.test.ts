import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { CallwayError } from '../../src/base/errors.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import type { Call } from '../../src/calls/call.ts';
import type { OutboundOrder } from '../../src/calls/setup/outboundOrder.ts';
import { patchSettings } from '../../src/campaigns/campaign.ts';
import { campaignRefusal } from '../../src/campaigns/campaignRefusal.ts';
import { Campaigns, type Transition } from '../../src/campaigns/campaigns.ts';
import type { Contact, ContactInput } from '../../src/campaigns/contact.ts';
import { type RunCampaignDeps, runCampaign } from '../../src/campaigns/runCampaign.ts';
import { announceFinished, settleContact } from '../../src/campaigns/settleContact.ts';
import { shownCampaign, shownContact } from '../../src/campaigns/shown.ts';
import type { Analysis } from '../../src/engine/history/sessionResults.ts';
import type { NewLiveEvent } from '../../src/events/liveEvent.ts';
import { makeCall } from '../infra/postgres/support/calls.ts';
import { insertCampaign } from '../infra/postgres/support/campaigns.ts';
import { migrated, type OpenDatabase, openServerDatabase } from '../infra/postgres/support/databases.ts';
import { type SessionWorld, sessionWorld } from '../infra/postgres/support/sessions.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const FROM = '+886223456789';
/** A Thursday; 09:00 in Taipei, 20:00 of the day before in New York. */
const START = Date.parse('2026-01-01T01:00:00Z');
const MINUTE = 60_000;
const ALL_DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

let open: OpenDatabase;
let world: SessionWorld;
let clock = createSimulatedClock(START);
let published: NewLiveEvent[] = [];
/** Orders in the order in which they were accepted, with the ids of their calls. */
let placed: (OutboundOrder & { readonly callId: string })[] = [];
/** Whether calls have a channel at once. */
let isDialed = true;
/** Refuses an order before it is stored. */
let refuse: (order: OutboundOrder) => CallwayError | undefined = () => undefined;

beforeAll(async () => {
  open = await migrated(openServerDatabase);
});
afterAll(() => open.close());
beforeEach(async () => {
  world = await sessionWorld(open.database);
  clock = createSimulatedClock(START);
  published = [];
  placed = [];
  refuse = () => undefined;
  isDialed = true;
});

const now = () => new Date(clock.now()).toISOString();
const deps = (): RunCampaignDeps => ({
  transaction: world.transaction,
  async accept(order, insertOnce) {
    const refusal = refuse(order);
    if (refusal) throw refusal;
    const { fromNumber, toNumber } = order;
    const { call, session, started } = makeCall(world, {
      fromNumber,
      toNumber,
      createdAt: now(),
      ...order.campaign,
    });
    const accepted = await insertOnce(async ({ calls }) => {
      await calls.insert(call, session, started);
      return { success: true, callId: call.id, sessionId: call.sessionId };
    });
    if (isDialed) await world.stores.calls.update(call.id, null, { status: 'dialing' });
    placed.push({ ...order, callId: call.id });
    return accepted;
  },
  history: world.stores.history,
  liveEvents: { publish: (event) => published.push(event) },
  clock,
});
const settling = () => ({ ...deps(), wake: async () => undefined });
const campaigns = () =>
  new Campaigns({
    destinations: async () => () => undefined,
    listedAmong: world.stores.doNotCall.listedAmong,
    wake: async () => undefined,
    liveEvents: { publish: (event) => published.push(event) },
    clock,
    makeId: uuidV7,
  });

/** A running campaign with these contacts. */
async function running(input: object, rows: readonly ContactInput[]): Promise<string> {
  const { id } = await created(input, rows);
  await change(id, 'resume');
  return id;
}

async function created(input: object, rows: readonly ContactInput[]) {
  const change = { status: 'paused', createdAt: now() } as const;
  const stored = await insertCampaign(world, { fromNumbers: [FROM], ...input }, change);
  const read = await campaigns().read(stored, rows);
  await world.transaction((stores) => campaigns().add(stores, stored, read));
  return stored;
}

const campaignOf = async (id: string) => {
  const campaign = await world.stores.campaigns.find(world.projectId, id);
  if (!campaign) throw new Error('no campaign');
  return campaign;
};
const contactsOf = async (id: string): Promise<Contact[]> =>
  (await world.stores.campaignContacts.list(id, {}, { limit: 200, offset: 0 })).items;
const change = async (id: string, transition: Transition) => {
  await world.transaction(async (stores) => {
    const campaign = await stores.campaigns.find(world.projectId, id, 'for update');
    if (campaign) await campaigns().change(stores, campaign, transition);
  });
};

/** Runs the steps of a campaign that are due within this time, as a node's worker does. */
async function pass(id: string, ms: number): Promise<void> {
  const untilMs = clock.now() + ms;
  for (let steps = 0; steps < 1_000; steps += 1) {
    const again = await runCampaign(deps(), { id, projectId: world.projectId });
    if (!again || clock.now() + again.afterMs > untilMs) break;
    clock.advance(Math.max(1, again.afterMs));
  }
  clock.advance(untilMs - clock.now());
}

/** Ends a call, as its node does. */
async function end(callId: string, how: Partial<Call>): Promise<void> {
  const call = await world.stores.calls.update(callId, null, {
    status: 'completed',
    endedAt: now(),
    ...how,
  } as object);
  if (!call) throw new Error('no live call');
  await settleContact(settling(), { ...call, ...how });
}
/** Erases a person from the project. */
async function erase(key: string): Promise<void> {
  const customer = { projectId: world.projectId, key };
  await world.customers.requestErasure(customer, {
    id: uuidV7(),
    projectId: world.projectId,
    at: now(),
    action: 'customer.erased',
    target: 'x',
    actor: { kind: 'admin' },
    details: {},
    requestId: null,
  });
  await world.customers.eraseNext(customer);
}
const lastCall = () => placed.at(-1)?.callId ?? '';
const numbers = () => placed.map(({ toNumber }) => toNumber.slice(-3));
const told = () => published.map(({ type }) => type);
const rows = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ toNumber: `+886912345${String(n).padStart(3, '0')}`, ...more }));

describe('A running campaign', () => {
  test('calls each contact once, whatever number of nodes run it at once', async () => {
    const id = await running({ pacing: { maxConcurrent: 200, callsPerMinute: 600 } }, rows(30));
    for (let round = 0; round < 60; round += 1) {
      clock.advance(110);
      await Promise.all(
        Array.from({ length: 4 }, () => runCampaign(deps(), { id, projectId: world.projectId })),
      );
    }
    expect(numbers().toSorted()).toEqual(rows(30).map(({ toNumber }) => toNumber.slice(-3)));
    expect((await campaignOf(id)).counts).toMatchObject({ pending: 0, calling: 30 });
    expect((await campaignOf(id)).placed).toBe(30);
  });

  test('is stepped by a second node while a call of the first is being placed: the next contact is called, none waits', async () => {
    const id = await running({ pacing: { maxConcurrent: 200, callsPerMinute: 600 } }, rows(2));
    const work = { id, projectId: world.projectId };
    const { accept, ...first } = deps();
    await runCampaign(
      {
        ...first,
        async accept(order, insertOnce) {
          clock.advance(110);
          await runCampaign(deps(), work);
          return await accept(order, insertOnce);
        },
      },
      work,
    );
    expect(numbers()).toEqual(['001', '000']);
    expect((await campaignOf(id)).counts).toMatchObject({ pending: 0, calling: 2 });
  });

  test('keeps its pace, and no more contacts at once than it may', async () => {
    const id = await running({ pacing: { maxConcurrent: 3, callsPerMinute: 30 } }, rows(10));
    await pass(id, MINUTE);
    expect(placed).toHaveLength(3);
    await end(lastCall(), { status: 'busy' });
    await pass(id, 10);
    expect(placed).toHaveLength(4);
  });

  test('calls by priority, then in the order of arrival, with its variables under the contact’s', async () => {
    const contacts = [
      { toNumber: '+886912345001', variables: { name: 'Ada' }, externalId: 'a' },
      { toNumber: '+886912345002', priority: 5 },
      { toNumber: '+886912345003', priority: 5 },
    ];
    const input = { variables: { name: 'you', company: 'Acme' }, metadata: { list: 7 } };
    const id = await running({ ...input, pacing: { callsPerMinute: 600 } }, contacts);
    await pass(id, 1_000);
    expect(numbers()).toEqual(['002', '003', '001']);
    const [contact] = await contactsOf(id);
    expect(placed[2]).toMatchObject({
      fromNumber: FROM,
      dynamicVariables: { name: 'Ada', company: 'Acme' },
      metadata: { list: 7 },
      externalId: 'a',
      campaign: { campaignId: id, contactId: contact?.id },
    });
    const stored = await world.stores.calls.find(world.projectId, lastCall());
    expect(stored).toMatchObject({ campaignId: id, contactId: contact?.id });
  });

  test('calls nobody outside the hours of their own clocks, nor before startAt or their notBefore', async () => {
    const schedule = {
      windows: [{ days: [...ALL_DAYS], from: '09:00', to: '21:00' }],
      startAt: '2026-01-01T01:30:00Z',
    };
    const contacts = [
      { toNumber: '+886912345001' },
      { toNumber: '+886912345002', timezone: 'America/Los_Angeles' },
      { toNumber: '+886912345003', notBefore: '2026-01-01T02:00:00Z' },
      { toNumber: '+12125550104' },
    ];
    const id = await running({ schedule, pacing: { callsPerMinute: 600 } }, contacts);
    await pass(id, 29 * MINUTE);
    expect(placed).toEqual([]);
    await pass(id, 2 * MINUTE);
    // New York closes at 02:00, Los Angeles at 05:00.
    expect(numbers()).toEqual(['001', '002', '104']);
    await pass(id, 30 * MINUTE);
    expect(numbers()).toEqual(['001', '002', '104', '003']);
  });

  test('calls within its own windows and the calling hours of the project, which hold as they are now', async () => {
    const hours = (from: string, to: string) => ({
      timezone: 'callee' as const,
      windows: [{ days: [...ALL_DAYS], from, to }],
      appliesTo: ['campaign' as const],
    });
    await world.stores.projects.update(world.projectId, { callingHours: hours('10:00', '11:00') }, now());
    const schedule = { windows: [{ days: [...ALL_DAYS], from: '09:00', to: '21:00' }] };
    const id = await running({ schedule, pacing: { maxConcurrent: 1 } }, rows(2));
    await pass(id, 59 * MINUTE);
    expect(placed).toEqual([]);
    await pass(id, 2 * MINUTE);
    expect(placed).toHaveLength(1);
    const call = await world.stores.calls.find(world.projectId, lastCall());
    await world.stores.projects.update(world.projectId, { callingHours: hours('15:00', '16:00') }, now());
    expect(await campaignRefusal({ ...world.stores, clock }, call as Call)).toBe('outside_calling_hours');
  });

  test('without windows of its own keeps those of the project by the zone that it names, and by the project’s', async () => {
    const callingHours = {
      timezone: 'callee' as const,
      windows: [{ days: [...ALL_DAYS], from: '09:00', to: '21:00' }],
      appliesTo: ['campaign' as const],
    };
    await world.stores.projects.update(world.projectId, { callingHours }, now());
    const id = await running({ schedule: { timezone: 'Europe/Berlin' } }, rows(1));
    const { schedule } = shownCampaign(await campaignOf(id));
    expect(schedule).toEqual({ timezone: 'Europe/Berlin', windows: callingHours.windows });
    // 09:00 in Berlin is 16:00 in Taipei.
    await pass(id, 7 * 60 * MINUTE - 1);
    expect(placed).toEqual([]);
    await pass(id, MINUTE);
    expect(placed).toHaveLength(1);
  });

  test('takes no row whose number is on a do-not-call list', async () => {
    const entry = { source: 'api' as const, at: now() };
    await world.stores.doNotCall.add(world.projectId, ['+886912345001'], entry);
    await world.stores.doNotCall.add(null, ['+886912345002'], entry);
    const { id } = await created({}, rows(4));
    expect((await contactsOf(id)).map(({ toNumber }) => toNumber.slice(-3))).toEqual(['000', '003']);
    await world.stores.doNotCall.remove(null, '+886912345002');
  });

  test('waits through the night for contacts whose window is closed', async () => {
    const schedule = { windows: [{ days: [...ALL_DAYS], from: '09:00', to: '10:00' }] };
    const id = await running({ schedule }, [{ toNumber: '+12125550104' }]);
    await pass(id, 12 * 60 * MINUTE);
    expect(placed).toEqual([]);
    await pass(id, 2 * 60 * MINUTE);
    expect(placed).toHaveLength(1);
  });

  test('is told of a contact once its call was analyzed, where the agent asks for that', async () => {
    const id = await running({}, rows(2));
    await pass(id, 10_000);
    const [first, second] = placed.map(({ callId }) => callId);
    const analyzed = async (callId = '', analysis: Analysis | null) => {
      const call = await world.stores.calls.find(world.projectId, callId);
      await open.database.query(
        'UPDATE session_history SET analysis = $2, disposition = $3 WHERE instance_id = $1',
        [call?.instanceId ?? null, analysis && JSON.stringify(analysis), analysis?.disposition ?? null],
      );
      return call as Call;
    };
    const done: Analysis = { status: 'done', disposition: 'booked', data: { guests: 2 }, model: 'm' };
    await open.database.query(
      `UPDATE agent_releases SET release = jsonb_set(release::jsonb, '{agent,analysis}', '{}')`,
    );
    const finished = () => published.filter(({ type }) => type === 'contact.finished');
    await end(first ?? '', { answeredAt: now() });
    expect(finished()).toEqual([]);
    const call = await analyzed(first, done);
    for (let again = 0; again < 2; again += 1) await announceFinished(settling(), call);
    expect(finished()).toMatchObject([
      { callId: first, data: { disposition: 'booked', data: { guests: 2 } } },
    ]);
    // Analyzed before its end, as after a transfer.
    await analyzed(second, { ...done, disposition: 'lost' });
    await end(second ?? '', { answeredAt: now() });
    expect(finished()[1]).toMatchObject({ callId: second, data: { disposition: 'lost' } });
    const list = async (disposition: string) =>
      (await world.stores.campaignContacts.list(id, { disposition }, { limit: 9, offset: 0 })).items.map(
        ({ attempts }) => attempts[0]?.callId,
      );
    expect([await list('booked'), await list('lost'), await list('other')]).toEqual([[first], [second], []]);
    expect(await world.stores.campaignContacts.dataNames(id, 9)).toEqual(['guests']);
  });

  test('calls a contact again by its rules and within the hours, then it is done, and is told once', async () => {
    const schedule = { windows: [{ days: [...ALL_DAYS], from: '09:00', to: '09:30' }] };
    const retry = { maxAttempts: 2, rules: [{ outcomes: ['busy'], afterMinutes: 60 }] };
    const id = await running({ schedule, retry }, rows(1));
    await pass(id, 10);
    await end(lastCall(), { status: 'busy' });
    const [waiting] = await contactsOf(id);
    expect(waiting).toMatchObject({ status: 'waiting', outcome: 'busy', callId: null });
    // An hour later the window is closed: on the next day.
    expect(waiting && shownContact(waiting, await campaignOf(id), clock.now()).nextAttemptAt).toBe(
      '2026-01-02T01:00:00.000Z',
    );
    await pass(id, 23 * 60 * MINUTE);
    expect(placed).toHaveLength(1);
    await pass(id, 60 * MINUTE);
    expect(placed).toHaveLength(2);
    const call = await world.stores.calls.update(lastCall(), null, { status: 'busy', endedAt: now() });
    // As a sweeper that finds it unsettled.
    for (let again = 0; again < 2; again += 1) await settleContact(settling(), call as Call);
    const [done] = await contactsOf(id);
    expect(done).toMatchObject({ status: 'done', outcome: 'busy' });
    expect(done?.attempts.map(({ callId, outcome }) => [callId, outcome])).toEqual(
      placed.map(({ callId }) => [callId, 'busy']),
    );
    await pass(id, 10);
    expect(await campaignOf(id)).toMatchObject({ status: 'completed', counts: { done: 1, waiting: 0 } });
    expect(told()).toEqual(['contact.finished', 'campaign.completed']);
    expect(published[0]).toMatchObject({ callId: lastCall(), data: { outcome: 'busy', attempts: 2 } });
  });

  test.each([{ maxAttempts: 1 }, { rules: [] }])(
    'calls no contact again whose retries end when they become %o while it waits, and tells of it',
    async (changed) => {
      const retry = { maxAttempts: 3, rules: [{ outcomes: ['busy' as const], afterMinutes: 60 }] };
      const id = await running({ retry }, rows(1));
      await pass(id, 10);
      await end(lastCall(), { status: 'busy' });
      const campaign = await campaignOf(id);
      await world.stores.campaigns.update(campaign, {
        settings: patchSettings(campaign, { retry: changed }),
      });
      await pass(id, 61 * MINUTE);
      expect(placed).toHaveLength(1);
      expect(await contactsOf(id)).toMatchObject([{ status: 'done', outcome: 'busy' }]);
      expect(told()).toEqual(['contact.finished', 'campaign.completed']);
    },
  );

  test('counts each contact by its last outcome alone, and an erased one no more', async () => {
    const retry = { maxAttempts: 2, rules: [{ outcomes: ['busy'], afterMinutes: 0 }] };
    const id = await running({ retry, pacing: { maxConcurrent: 1, callsPerMinute: 600 } }, rows(3));
    const outcomes = async () =>
      Object.entries((await campaignOf(id)).outcomes).filter(([, contacts]) => contacts > 0);
    const called = async (how: Partial<Call>) => {
      await pass(id, 1_000);
      await end(lastCall(), how);
    };
    await called({ status: 'busy' });
    expect(await outcomes()).toEqual([['busy', 1]]);
    await called({ answeringMachine: 'human' });
    await called({ status: 'no_answer' });
    await called({ status: 'no_answer' });
    expect(await outcomes()).toEqual([
      ['answered', 1],
      ['no_answer', 2],
    ]);
    await erase(rows(3)[1]?.toNumber ?? '');
    expect((await outcomes()).reduce((sum, [, contacts]) => sum + contacts, 0)).toBe(2);
  });

  test('stays open for more contacts with keepOpen', async () => {
    const id = await running({ keepOpen: true, pacing: { callsPerMinute: 600 } }, rows(1));
    await pass(id, 10);
    await end(lastCall(), { answeringMachine: 'human' });
    await pass(id, 60 * MINUTE);
    const campaign = await campaignOf(id);
    expect(campaign.status).toBe('running');
    const read = await campaigns().read(campaign, [{ toNumber: '+886912345999' }]);
    await world.transaction((stores) => campaigns().add(stores, campaign, read));
    await pass(id, 10);
    expect(numbers()).toEqual(['000', '999']);
  });

  test('is not completed while a file is read into it', async () => {
    const id = await running({ pacing: { callsPerMinute: 600 } }, rows(1));
    const { contactImports } = world.stores;
    const file = { fileKey: uuidV7(), fileType: 'csv', mapping: { toNumber: 'Phone' } } as const;
    const one = { id: uuidV7(), projectId: world.projectId, campaignId: id, ...file, createdAt: now() };
    await contactImports.insert(one);
    await pass(id, 10);
    await end(lastCall(), { answeringMachine: 'human' });
    await pass(id, MINUTE);
    expect((await campaignOf(id)).status).toBe('running');
    await contactImports.end(one.id, null, now());
    await pass(id, MINUTE);
    expect((await campaignOf(id)).status).toBe('completed');
  });

  test('ends at endAt: contacts that are left are skipped, and a call in progress counts', async () => {
    const schedule = { endAt: '2026-01-01T02:00:00Z' };
    const id = await running({ schedule, pacing: { maxConcurrent: 1 } }, rows(2));
    await pass(id, 90 * MINUTE);
    expect(await campaignOf(id)).toMatchObject({ status: 'completed', statusReason: 'ended' });
    await end(lastCall(), { status: 'busy' });
    const campaign = await campaignOf(id);
    const shown = (await contactsOf(id)).map((contact) => shownContact(contact, campaign, clock.now()));
    expect(shown.map(({ status, skipReason, outcome }) => [status, skipReason, outcome])).toEqual([
      ['done', undefined, 'busy'],
      ['skipped', 'campaign_ended', undefined],
    ]);
  });

  test('pauses itself when too many attempts fail, and counts anew once it is resumed', async () => {
    const id = await running({ pacing: { callsPerMinute: 600 }, retry: { rules: [] } }, rows(40));
    for (let calls = 0; calls < 9; calls += 1) {
      await pass(id, 110);
      await end(lastCall(), { status: 'failed', endReason: 'trunk_error' });
    }
    expect((await campaignOf(id)).status).toBe('running');
    await pass(id, 110);
    await end(lastCall(), { status: 'failed', endReason: 'unreachable' });
    expect(await campaignOf(id)).toMatchObject({ status: 'paused', statusReason: 'too_many_failed' });
    expect(told().at(-1)).toBe('campaign.paused');
    await change(id, 'resume');
    await pass(id, 110);
    await end(lastCall(), { status: 'failed', endReason: 'trunk_error' });
    expect(await campaignOf(id)).toMatchObject({ status: 'running', statusReason: null });
  });
});

describe('A call of a campaign that waits for a channel', () => {
  test.each(['pause', 'cancel'] as const)(
    'does not go out after %s, and its contact had no attempt',
    async (stop) => {
      const id = await running({}, rows(1));
      await pass(id, 10);
      const call = await world.stores.calls.find(world.projectId, lastCall());
      const asked = () => campaignRefusal({ ...world.stores, clock }, call as Call);
      expect(await asked()).toBeUndefined();
      await change(id, stop);
      expect(await asked()).toBe('campaign_stopped');
      await end(lastCall(), { status: 'canceled', endReason: 'campaign_stopped' });
      expect(await contactsOf(id)).toMatchObject([{ status: 'pending', attempts: [], outcome: null }]);
    },
  );

  test('does not go out once its window has closed, and its contact is called when it opens', async () => {
    const schedule = { windows: [{ days: [...ALL_DAYS], from: '09:00', to: '10:00' }] };
    const id = await running({ schedule }, rows(1));
    await pass(id, 10);
    const call = await world.stores.calls.find(world.projectId, lastCall());
    clock.advance(60 * MINUTE);
    expect(await campaignRefusal({ ...world.stores, clock }, call as Call)).toBe('outside_calling_hours');
    await end(lastCall(), { status: 'canceled', endReason: 'outside_calling_hours' });
    await pass(id, 24 * 60 * MINUTE);
    expect(placed).toHaveLength(2);
  });

  test('does not go out once its contact was removed or erased', async () => {
    const id = await running({ pacing: { callsPerMinute: 600 } }, rows(2));
    await pass(id, 1_000);
    const [removed, erased] = await contactsOf(id);
    await world.transaction(async (stores) => {
      const campaign = await stores.campaigns.find(world.projectId, id, 'for update');
      if (campaign) await campaigns().removeContact(stores, campaign, removed?.id ?? '');
    });
    await erase(erased?.toNumber ?? '');
    expect((await campaignOf(id)).counts).toMatchObject({ calling: 1 });
    for (const { callId } of placed) {
      const call = await world.stores.calls.find(world.projectId, callId);
      expect(await campaignRefusal({ ...world.stores, clock }, call as Call)).toBe('campaign_stopped');
      await end(callId, { status: 'canceled', endReason: 'campaign_stopped' });
    }
    expect(await contactsOf(id)).toMatchObject([{ status: 'skipped', skipReason: 'removed' }]);
  });
});

test('A campaign places no more calls while one of them waits for a channel', async () => {
  isDialed = false;
  const id = await running({ pacing: { callsPerMinute: 600 } }, rows(200));
  await pass(id, MINUTE);
  expect(placed.length).toBeLessThan(25);
});

describe('An order of a campaign that is refused', () => {
  const limited = (code: string, retryAfterSeconds: number) =>
    new CallwayError('rate_limited', code, 'x', { retryAfterSeconds });

  test('by a limit of the project waits, and is no attempt', async () => {
    const id = await running({}, rows(1));
    refuse = () => limited('call_rate_exceeded', 20);
    await pass(id, 19_000);
    expect(await contactsOf(id)).toMatchObject([{ status: 'pending', attempts: [] }]);
    refuse = () => undefined;
    await pass(id, 2_000);
    expect(placed).toHaveLength(1);
  });

  test('since its number has another call waits, while others are called', async () => {
    const id = await running({ pacing: { callsPerMinute: 600 } }, rows(2));
    refuse = ({ toNumber }) =>
      toNumber.endsWith('000') ? new CallwayError('conflict', 'number_already_queued', 'x') : undefined;
    await pass(id, 1_000);
    expect(numbers()).toEqual(['001']);
    refuse = () => undefined;
    await pass(id, 5_000);
    expect(numbers()).toEqual(['001', '000']);
  });

  test.each(['destination_not_allowed', 'do_not_call'])('by %s skips its contact', async (code) => {
    const id = await running({}, rows(1));
    refuse = () => new CallwayError('unprocessable', code, 'x');
    await pass(id, 1_000);
    expect(await contactsOf(id)).toMatchObject([{ status: 'skipped', skipReason: code }]);
    expect(await campaignOf(id)).toMatchObject({ status: 'completed', counts: { skipped: 1 } });
    expect(told()).toEqual(['campaign.completed']);
  });

  test('since a from number may not call is placed from the next one; without one the campaign pauses', async () => {
    const fromNumbers = [FROM, '+886223456780'];
    const id = await running({ fromNumbers, pacing: { callsPerMinute: 600 } }, rows(2));
    const inactive = new CallwayError('not_found', 'from_number_inactive', 'x');
    refuse = ({ fromNumber }) => (fromNumber === FROM ? inactive : undefined);
    await pass(id, 10);
    expect(placed.map(({ fromNumber }) => fromNumber)).toEqual(['+886223456780']);
    refuse = () => inactive;
    await pass(id, 1_000);
    expect(await campaignOf(id)).toMatchObject({ status: 'paused', statusReason: 'no_from_number' });
    expect(told()).toEqual(['campaign.paused']);
  });
});
