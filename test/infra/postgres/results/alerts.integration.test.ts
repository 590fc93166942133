import { beforeEach, describe, expect, test } from 'vitest';
import { rates } from '../../../../src/agents/cost/rates.ts';
import { DAY_MS, MINUTE_MS } from '../../../../src/base/values/clock.ts';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { NewLiveEvent } from '../../../../src/events/liveEvent.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { removeExpired } from '../../../../src/infra/postgres/retention.ts';
import type { Alert } from '../../../../src/results/alerts/alert.ts';
import { evaluateAlert } from '../../../../src/results/alerts/evaluateAlert.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';
import { databases, useDatabase } from '../support/databases.ts';
import { BEGIN, later, sessionWorld } from '../support/sessions.ts';

const FILTER: Alert['filter'] = {
  release: 3,
  disposition: 'booked',
  success: true,
  channel: 'phone',
  direction: 'inbound',
  endReason: 'busy',
  trunkId: 'a trunk',
  campaignId: 'a campaign',
  agentId: 'an agent',
  language: 'en-US',
  node: 'end',
  provider: 'shop',
};
const OTHERS: Alert['filter'] = {
  release: 4,
  disposition: 'lost',
  success: false,
  channel: 'web',
  direction: 'outbound',
  endReason: 'idle',
  trunkId: 'x',
  campaignId: 'x',
  agentId: 'x',
  language: '',
  node: '',
  provider: 'x',
};

describe.each(databases)('A look at an alert on the $name database', ({ open }) => {
  const opened = useDatabase(open);
  beforeEach(() => opened.database.query('DELETE FROM projects'));

  /** A project with one session, which has what the filter wants and ended a minute after BEGIN. */
  const scene = async () => {
    const world = await sessionWorld(opened.database);
    const { projectId, insights, stores } = world;
    await world.end(await world.start());
    await countNext(opened.database);
    const texts = Object.fromEntries(Object.entries(FILTER).map(([name, value]) => [name, String(value)]));
    const sql = `UPDATE session_history SET counted = jsonb_set(counted::jsonb, '{dimensions}', $2::jsonb)::json
      WHERE project_id = $1`;
    await opened.database.query(sql, [projectId, JSON.stringify(texts)]);
    const clock = createSimulatedClock(Date.parse(later(2 * MINUTE_MS)));
    const published: NewLiveEvent[] = [];
    const liveEvents = { publish: (event: NewLiveEvent) => void published.push(event) };
    const alerts = stores.alerts;
    const create = async (settings: Partial<Alert>): Promise<Alert> => {
      const alert: Alert = {
        id: uuidV7(),
        projectId,
        name: 'Any',
        metric: 'sessions',
        filter: {},
        windowMinutes: 60,
        minCount: 1,
        above: 0,
        webhook: null,
        enabled: true,
        state: 'ok',
        since: BEGIN,
        lastValue: null,
        calmLooks: 0,
        createdAt: BEGIN,
        updatedAt: BEGIN,
        ...settings,
      };
      await alerts.insert(alert);
      return alert;
    };
    const look = (alert: Alert) => evaluateAlert({ alerts, insights, liveEvents, clock }, alert);
    const stateAfter = async (settings: Partial<Alert>) => {
      const alert = await create(settings);
      await look(alert);
      return (await alerts.find(projectId, alert.id))?.state;
    };
    return { projectId, alerts, clock, published, create, look, stateAfter };
  };

  test('takes the sessions of its filter', async () => {
    const { stateAfter } = await scene();
    for (const [name, value] of Object.entries(FILTER))
      expect([name, await stateAfter({ filter: { [name]: value } })]).toEqual([name, 'firing']);
    for (const [name, value] of Object.entries(OTHERS))
      expect([name, await stateAfter({ filter: { [name]: value } })]).toEqual([name, 'ok']);
  });

  test('takes the sessions that ended within its window', async () => {
    const { stateAfter, clock } = await scene();
    expect(await stateAfter({ windowMinutes: 1 })).toBe('firing');
    clock.advance(1);
    expect(await stateAfter({ windowMinutes: 1 })).toBe('ok');
    expect(await stateAfter({ windowMinutes: 2 })).toBe('firing');
  });

  test('takes deleted sessions for a day, and a cost in the currency of the rates', async () => {
    const { database } = opened;
    const world = await sessionWorld(database, { historyRetentionDays: 0 });
    const { projectId, insights, stores } = world;
    const at = new Date().toISOString();
    for (const currency of ['USD', 'USD', 'EUR']) {
      const { instanceId } = await world.start();
      await database.query(
        `UPDATE session_history SET status = 'ended', ended_at = $2, cost = json_build_object('total', 2, 'currency', $3::text)
         WHERE instance_id = $1`,
        [instanceId, at, currency],
      );
    }
    await countNext(database);
    const to = new Date(Date.parse(at) + 1).toISOString();
    const figures = async (from: string) => {
      const asked = { filter: { channel: 'chat' }, from, to } as const;
      const cost = await insights.figure(projectId, { metric: 'cost', ...asked });
      return [cost, await insights.figure(projectId, { metric: 'sessions', ...asked })];
    };
    await stores.rates.put(projectId, rates.parse({ currency: 'USD' }), at);
    const found = [
      { value: 4, n: 2 },
      { value: 3, n: 3 },
    ];
    expect(await figures(at)).toEqual(found);
    expect(await removeExpired(database, 'sessions', new Date(to))).toBe(3);
    expect(await figures(at)).toEqual(found);
    expect(await figures(to)).toMatchObject([{ n: 0 }, { n: 0 }]);
    expect(await removeExpired(database, 'removedSessions', new Date(Date.parse(at) + DAY_MS))).toBe(3);
    expect(await figures(at)).toMatchObject([{ n: 0 }, { n: 0 }]);
  });

  test('is told once, however many nodes look at once, and counts by how it was changed', async () => {
    const { create, look, published, alerts, projectId } = await scene();
    const alert = await create({});
    await Promise.all([look(alert), look(alert)]);
    expect(published).toMatchObject([
      { projectId, type: 'alert.firing', data: { alertId: alert.id, value: 1 } },
    ]);
    expect(await look(alert)).toEqual({ afterMs: MINUTE_MS });
    await alerts.update({ ...alert, enabled: false, updatedAt: later(1) });
    expect(await look(alert)).toBeUndefined();
    expect(published.map(({ type }) => type)).toEqual(['alert.firing', 'alert.resolved']);
    expect(await alerts.saveLook(alert, { ...alert, state: 'firing' })).toBe(false);
    await alerts.remove(projectId, alert.id);
    expect(await look(alert)).toBeUndefined();
  });
});
