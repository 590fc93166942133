import { beforeEach, describe, expect, test } from 'vitest';
import { type Rates, rates } from '../../../../src/agents/cost/rates.ts';
import { type Amounts, afterwards, chatAmounts } from '../../../../src/agents/cost/usage.ts';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { CallChange } from '../../../../src/calls/call.ts';
import type { Session } from '../../../../src/engine/session/session.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { sumOfCosts } from '../../../../src/results/cost/costOf.ts';
import { costOfCampaign } from '../../../../src/results/cost/costOfCampaign.ts';
import { makeCall } from '../support/calls.ts';
import { insertCampaign } from '../support/campaigns.ts';
import { useDatabase } from '../support/databases.ts';
import { agent, later, NOTHING, type SessionWorld, sessionWorld } from '../support/sessions.ts';

const ENDED = later(60_000);
const pricedAt = (inputPerMillion: number, more: Partial<Rates> = {}): Rates => ({
  ...rates.parse({
    currency: 'USD',
    chat: [{ model: 'm', inputPerMillion, outputPerMillion: 0 }],
  }),
  ...more,
});
/** Amounts of a million input tokens, and as many times more. */
const million = (times = 1) => chatAmounts('m', { promptTokens: times * 1_000_000 });

describe('The cost of a session', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeEach(async () => {
    world = await sessionWorld(opened.database);
    await world.stores.rates.put(null, null, later(-2000));
  });
  const put = (wanted: Rates | null, at: string, projectId: string | null = world.projectId) =>
    world.stores.rates.put(projectId, wanted, at);
  const found = async ({ instanceId }: Session) => {
    const detail = await world.stores.history.findInstance(world.projectId, instanceId);
    return { total: detail?.cost?.total, inputTokens: detail?.usage.inputTokens };
  };
  const turn = async (session: Session, usage: Amounts): Promise<Session> => {
    const next = { ...session, turn: session.turn + 1, state: { ...session.state, usage } };
    await world.stores.sessions.saveTurn(next, { messages: [agent('hi')], events: [] });
    return next;
  };
  const ended = async (usage: Amounts, change: Partial<Session> = {}) => {
    const session = await turn(await world.start(change), usage);
    await world.end(session, { at: ENDED });
    await world.stores.history.updateCost(session.instanceId);
    return session;
  };

  test('follows its end, and its usage is shown before', async () => {
    await put(pricedAt(2), later(0));
    const live = await turn(await world.start(), million());
    await world.stores.history.addUsage(live.instanceId, { ...million(), 'recognitionMs/local': 1500 });
    expect(await found(live)).toEqual({ total: undefined, inputTokens: 2_000_000 });
    await world.end(live, { at: ENDED });
    await world.stores.history.updateCost(live.instanceId);
    expect(await found(live)).toEqual({ total: 4, inputTokens: 2_000_000 });
    const { items } = await world.stores.history.list(world.projectId, {}, { limit: 1, offset: 0 });
    expect(items[0]?.cost).toMatchObject({ total: 4, chat: 4, currency: 'USD', unpriced: ['local'] });
    const spendings = await world.stores.history.spendings([live.instanceId]);
    expect(spendings.get(live.instanceId)).toMatchObject({
      usage: { recognitionSeconds: 1.5 },
      cost: { total: 4 },
    });
  });

  test('is null where there are no rates, and stays so when they come', async () => {
    const session = await ended(million());
    expect(await found(session)).toEqual({ total: undefined, inputTokens: 1_000_000 });
    await put(pricedAt(2), later(61_000));
    await world.stores.history.updateCost(session.instanceId);
    expect((await found(session)).total).toBe(undefined);
  });

  test.each<[string, [Rates | null, number, 'own' | 'installation'][], number | undefined]>([
    [
      'the latest before the end',
      [
        [pricedAt(1), 0, 'own'],
        [pricedAt(2), 50_000, 'own'],
      ],
      2,
    ],
    ['those of the moment of the end', [[pricedAt(1), 60_000, 'own']], 1],
    [
      'none that came later',
      [
        [pricedAt(1), 0, 'own'],
        [pricedAt(9), 60_001, 'own'],
      ],
      1,
    ],
    ['the installation’s without own ones', [[pricedAt(3), 0, 'installation']], 3],
    [
      'its own before the installation’s',
      [
        [pricedAt(1), 0, 'own'],
        [pricedAt(3), 1, 'installation'],
      ],
      1,
    ],
    [
      'the installation’s again once its own are gone',
      [
        [pricedAt(3), 0, 'installation'],
        [pricedAt(1), 0, 'own'],
        [null, 1, 'own'],
      ],
      3,
    ],
  ])('is by %s', async (_, changes, total) => {
    for (const [wanted, ms, whose] of changes)
      await put(wanted, later(ms), whose === 'own' ? world.projectId : null);
    expect((await found(await ended(million()))).total).toBe(total);
  });

  test('grows by what comes after the end, at the rates of the end', async () => {
    await put(pricedAt(2), later(0));
    const session = await ended(million());
    await put(pricedAt(100), later(61_000));
    await Promise.all(
      [1, 2, 3].map(() => world.stores.history.addUsage(session.instanceId, afterwards(million()))),
    );
    const detail = await world.stores.history.findInstance(world.projectId, session.instanceId);
    expect(detail?.cost).toMatchObject({ total: 8, chat: 2, afterwards: 6 });
    expect(detail?.usage).toMatchObject({ inputTokens: 1_000_000, afterwards: { inputTokens: 3_000_000 } });
    // A turn that was stored too late.
    await world.stores.sessions.appendLateTurn(session, { ...NOTHING, used: million() });
    expect((await found(session)).total).toBe(10);
  });

  test('has the legs of its call, once the call has ended', async () => {
    const carrier = [
      { prefix: '+8869', perMinute: 0.5 },
      { prefix: '+8862', perMinute: 0.1 },
    ];
    await put(pricedAt(2, { carrier }), later(0));
    const { call, session, started } = makeCall(world, {
      toNumber: '+886912345678',
      answeredAt: later(0),
      status: 'in_progress',
    });
    await world.stores.calls.insert(call, session, started);
    await world.end(session, { at: later(10_000) });
    await world.stores.history.updateCost(session.instanceId);
    const spending = async () =>
      (await world.stores.history.spendings([session.instanceId])).get(session.instanceId);
    expect((await spending())?.usage.callSeconds).toBe(0);
    const legs = [
      { to: '+886223456789', talkTimeMs: 60_000 },
      { to: '+49301234', talkTimeMs: 1000 },
    ];
    const end: CallChange = { status: 'completed', endedAt: later(120_000), legs };
    await world.stores.calls.update(call.id, null, end);
    // Again, as after a crash.
    for (const _ of [1, 2]) await world.stores.history.updateCost(session.instanceId);
    expect(await spending()).toMatchObject({
      usage: { callSeconds: 181 },
      cost: { total: 1.1, carrier: 1.1, unpriced: ['carrier'] },
    });
  });

  test('adds up over the calls of a campaign, which are deleted meanwhile', async () => {
    const { projectId, stores, insights } = world;
    const campaign = await insertCampaign(world);
    const cost = () => costOfCampaign(insights, campaign);
    expect(await cost()).toBe(undefined);
    await put(pricedAt(0.1), later(0));
    for (const campaignId of [campaign.id, campaign.id, campaign.id, uuidV7(), campaign.id]) {
      const { call, session, started } = makeCall(world, {
        campaignId,
        status: 'completed',
        endedAt: later(1),
      });
      await stores.calls.insert(call, session, started);
      await world.end(await turn(session, million()));
      await stores.history.updateCost(session.instanceId);
      if (campaignId !== campaign.id) await put(pricedAt(8, { currency: 'EUR' }), later(2));
    }
    while ((await countNext(opened.database)) > 0);
    const sum = { total: 0.3, currency: 'USD', others: [{ total: 8, currency: 'EUR' }] };
    expect(await cost()).toEqual(sum);
    await opened.database.query('DELETE FROM session_history WHERE project_id = $1', [projectId]);
    expect(await cost()).toEqual(sum);
  });

  test('adds up over calls by currency, that of the latest first', async () => {
    const { calls, history } = world.stores;
    const ids: string[] = [];
    for (const [currency, usd, at] of [
      ['EUR', 9, 1],
      ['USD', 0.1, 2],
      ['USD', 0.2, 3],
    ] as const) {
      await put(pricedAt(usd, { currency }), later(at));
      const change = { createdAt: later(at), status: 'completed', endedAt: later(at) } as const;
      const { call, session, started } = makeCall(world, change);
      await calls.insert(call, session, started);
      await world.end(await turn(session, million()), { at: later(at) });
      await history.updateCost(session.instanceId);
      ids.push(call.id);
    }
    const { projectId } = world;
    const costs = await calls.costs(projectId, [...ids, uuidV7()]);
    expect(ids.map((id) => costs.get(id)?.total)).toEqual([9, 0.1, 0.2]);
    expect(sumOfCosts([...costs.values()])).toEqual({
      total: 0.3,
      currency: 'USD',
      others: [{ total: 9, currency: 'EUR' }],
    });
    expect(sumOfCosts([])).toBe(undefined);
  });

  test('has no carrier’s price for a call that came in', async () => {
    await put(pricedAt(2, { carrier: [{ prefix: '+', perMinute: 1 }] }), later(0));
    const change = {
      direction: 'inbound',
      status: 'completed',
      answeredAt: later(0),
      endedAt: later(60_000),
    } as const;
    const { call, session, started } = makeCall(world, change);
    await world.stores.calls.insert(call, session, started);
    await world.end(session, { at: ENDED });
    await world.stores.history.updateCost(session.instanceId);
    const [spending] = (await world.stores.history.spendings([session.instanceId])).values();
    expect(spending).toMatchObject({ usage: { callSeconds: 60 }, cost: { total: 0, unpriced: [] } });
  });
});

describe('Rates', () => {
  const opened = useDatabase();

  test('are a project’s own, of a moment, and not kept for ever', async () => {
    const { stores, projectId } = await sessionWorld(opened.database);
    const other = await sessionWorld(opened.database);
    expect(await stores.rates.own(projectId)).toBe(undefined);
    for (let change = 1; change <= 103; change++)
      await stores.rates.put(projectId, pricedAt(change), later(change));
    expect(await stores.rates.own(projectId)).toEqual(pricedAt(103));
    expect(await stores.rates.at(projectId, later(50))).toEqual(pricedAt(50));
    expect(await stores.rates.at(projectId, later(3))).toBe(undefined);
    expect(await stores.rates.own(other.projectId)).toBe(undefined);
  });
});
