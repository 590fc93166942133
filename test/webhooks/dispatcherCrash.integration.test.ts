import { describe, expect, test, vi } from 'vitest';
import type { WebhookEventName } from '../../src/agents/agentConfig.ts';
import { table } from '../../src/cli/table.ts';
import type { GuardedHttpClient } from '../../src/http/client.ts';
import type { DispatcherDeps } from '../../src/webhooks/dispatcher.ts';
import { report, runsAllFaults } from '../e2e/faults/support/table.ts';
import { databases } from '../infra/postgres/support/databases.ts';
import { unused } from '../support/unused.ts';
import { CHAT, PATIENCE, useDispatchers } from './support/dispatchers.ts';

/** The outbox is the same SQL on both: `dispatcher.integration.test.ts` has its steps on each database. */
const selected = databases.filter(({ name }) => runsAllFaults || name === 'server');

describe.each(selected)('WebhookDispatcher on the $name database', ({ name: databaseName, open }) => {
  const { scene, node, endSession, isFinished, untilFinished, untilFinishedOverTime } = useDispatchers(open);

  describe('a node that fails', () => {
    /** The calls of a live node to its ports, in order. */
    async function stepsOfOneLife(): Promise<string[]> {
      const here = await scene();
      const session = await endSession(here, { subscribed: CHAT });
      const mortal = mortalDeps(here.deps, undefined);
      const dispatcher = node(here, mortal.deps);
      await untilFinished(session, here);
      await dispatcher.close();
      return mortal.steps.slice(0, mortal.steps.lastIndexOf('advance') + 1);
    }

    test('is replaced by one that continues at the same step, losing and repeating no more than promised', async () => {
      const steps = await stepsOfOneLife();
      // A claim, the request, and its result.
      const finalRequest = steps.lastIndexOf('request');
      expect([steps[finalRequest - 1], steps[finalRequest + 1]]).toEqual(['advance', 'advance']);
      expect(steps.filter((step) => step === 'request')).toHaveLength(2);
      const deaths: Death[] = [];
      for (const [step, name] of steps.entries()) {
        for (const moment of ['before', 'after'] as const) {
          const here = await scene();
          const session = await endSession(here, { subscribed: CHAT });
          const mortal = mortalDeps(here.deps, { step, moment });
          const first = node(here, mortal.deps);
          await vi.waitFor(
            async () => expect(mortal.isDead() || (await isFinished(session))).toBe(true),
            PATIENCE,
          );
          await first.close();
          // A life with fewer claims in vain than the first one.
          if (!mortal.isDead()) continue;
          node(here);
          await untilFinishedOverTime(session, here);

          const isInWindow = isLostIn(mortal.steps, moment);
          const what = `death ${moment} step ${step} (${name})`;
          const names = here.names();
          deaths.push({ moment, step: step + 1, name, names, isInWindow });
          expect([what, names.filter((event) => event === 'session.finalized').length]).toEqual([
            what,
            isInWindow ? 0 : 1,
          ]);
          const ended = names.filter((event) => event === 'session.ended').length;
          expect([what, ended >= 1 && ended <= 2]).toEqual([what, true]);
          expect([what, names.slice(0, ended)]).toEqual([what, Array(ended).fill('session.ended')]);
          const ids = new Set(here.received.slice(0, ended).map(({ headers }) => headers['webhook-id']));
          expect([what, ids.size]).toEqual([what, 1]);
        }
      }
      expect(deaths.length).toBeGreaterThan(steps.length);
      reportDeaths(databaseName, deaths);
    }, 300_000);
  });
});

/** A node's failure at one step, and what the receiver got from both nodes together. */
interface Death {
  readonly moment: 'before' | 'after';
  /** Counted from one. */
  readonly step: number;
  readonly name: string;
  readonly names: readonly WebhookEventName[];
  readonly isInWindow: boolean;
}

/**
 * Between the commit of the claim and the request it is unknown whether that was sent: at most once means not again. Other
 * claims in vain may lie between.
 */
function isLostIn(steps: readonly string[], moment: Death['moment']): boolean {
  const work = steps.filter((one) => one !== 'claimDue');
  const requests = work.filter((one) => one === 'request').length;
  const isClaimed = moment === 'after' && work.at(-1) === 'advance' && work.at(-2) === 'session';
  const isUnsent = moment === 'before' && work.at(-1) === 'request';
  return (isClaimed && requests === 1) || (isUnsent && requests === 2);
}

/** Prints every failure; `npm run faults` shows one line for all. */
function reportDeaths(database: string, deaths: readonly Death[]): void {
  const rows = deaths.map(({ moment, step, name, names, isInWindow }) => [
    `${moment} step ${step}, ${name}`,
    names.join(', '),
    isInWindow ? 'claimed: it is unknown whether it was sent, so it is not repeated' : '',
  ]);
  console.log(table([['killed', `what the receiver got, ${database} database`, ''], ...rows]));
  const lost = deaths.filter(({ isInWindow }) => isInWindow).length;
  const twice = deaths.filter(({ names }) => names[1] === 'session.ended').length;
  report({
    what: `A node fails at each step of webhook delivery, ${database} database`,
    done: `killed ${deaths.length} times, before and after each step, and another continues`,
    seen: `session.finalized once in ${deaths.length - lost} of ${deaths.length}, and never twice; not at all in the ${lost} between its claim and its request; session.ended always, twice under one id in ${twice}`,
  });
}

/** Ports that fail from one step on, before or after it is done, as when the process is killed. */
function mortalDeps(deps: DispatcherDeps, death: { step: number; moment: 'before' | 'after' } | undefined) {
  const steps: string[] = [];
  let dead = false;
  const mortal =
    <Args extends unknown[], Result>(name: string, work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (dead) throw new Error('dead');
      const isLast = death?.step === steps.length;
      steps.push(name);
      if (!isLast) return await work(...args);
      dead = true;
      if (death?.moment === 'after') await work(...args);
      throw new Error('dies');
    };
  const { outbox, client } = deps;
  return {
    steps,
    isDead: () => dead,
    deps: {
      outbox: {
        ...outbox,
        claimDue: mortal('claimDue', outbox.claimDue),
        advance: mortal('advance', outbox.advance) as typeof outbox.advance,
        session: mortal('session', outbox.session),
      },
      client: unused<GuardedHttpClient>('client', { request: mortal('request', client.request) }),
    } satisfies Partial<DispatcherDeps>,
  };
}
