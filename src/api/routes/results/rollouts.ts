import { z } from 'zod';
import { arm, percent, type Rollout, rolloutFields, rolloutInput } from '../../../agents/releases/rollout.ts';
import { finishRollout, startRollout } from '../../../agents/releases/rollouts.ts';
import { CallwayError, notFound } from '../../../base/errors.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { ArmRow } from '../../../results/rollouts/armSums.ts';
import { armsOf, judgeArms } from '../../../results/rollouts/arms.ts';
import { idempotent } from '../../idempotency.ts';
import type { App, HttpDeps, Stores } from '../../ports.ts';
import { about, errors, listOf, listResponse, pageQuery, projectParams } from '../../schemas.ts';

const PATH = '/v1/projects/:projectId/rollouts';
const ITEM = `${PATH}/:rolloutId`;
const READ = { access: { kind: 'project', scope: 'read' } } as const;
const WRITE = { access: { kind: 'project', scope: 'write' } } as const;

const params = projectParams.extend({ rolloutId: z.string() });
const listed = rolloutFields.meta({ id: 'ListedRollout' });
const shown = rolloutFields
  .extend({
    arms: z.array(arm).describe('The old release and the new one, since the rollout began.'),
    currency: z
      .string()
      .optional()
      .describe(
        'Of the cost in arms, guards and decision: that of the rates when the rollout began, or else of the first ones since; absent without rates.',
      ),
  })
  .meta({ id: 'Rollout' });

export function rolloutRoutes(app: App, deps: HttpDeps): void {
  startRoute(app, deps);
  listRoute(app, deps);
  getRoute(app, deps);
  percentRoute(app, deps);
  finishRoute(app, deps, 'promote');
  finishRoute(app, deps, 'rollback');
}

function startRoute(app: App, deps: HttpDeps): void {
  app.post(
    PATH,
    {
      config: WRITE,
      schema: {
        ...about(
          'Releases',
          'Start a rollout',
          'Gives a release to a share of people from their next conversation on. A person is known by the number of the call, else by the variable `customerId`, else each session is one; who got the new release gets it again. Guards are judged at least once a minute by a test that holds at every look. One rollout of a project runs at a time: 409 `rollout_running`. A publication, and an edit while published, end it.',
        ),
        params: projectParams,
        body: rolloutInput,
        response: { 201: shown, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      const at = new Date(deps.clock.now()).toISOString();
      return await idempotent(deps, { request, reply, status: 201 }, async (stores) => {
        const rollout = await startRollout(stores, params.projectId, deps.makeId(), body, at);
        return await shownOf(stores, rollout, []);
      });
    },
  );
}

function listRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: READ,
      schema: {
        ...about('Releases', 'List the rollouts', 'Newest first.'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(listed), ...errors() },
      },
    },
    async ({ params, query }) =>
      listResponse(mapPage(await stores.rollouts.list(params.projectId, query), fieldsOf), query),
  );
}

function getRoute(app: App, { storage }: HttpDeps): void {
  app.get(
    ITEM,
    {
      config: { ...READ, isSearch: true },
      schema: {
        ...about('Releases', 'Get a rollout', 'With the figures of both releases.'),
        params,
        response: { 200: shown, ...errors() },
      },
    },
    async ({ params: { projectId, rolloutId } }) => {
      const rollout = await storage.stores.rollouts.find(projectId, rolloutId);
      if (!rollout) throw notFound('Rollout');
      return await withArms(storage, rollout);
    },
  );
}

function percentRoute(app: App, { storage }: HttpDeps): void {
  app.patch(
    ITEM,
    {
      config: WRITE,
      schema: {
        ...about('Releases', 'Change the share', 'A higher one moves only people who had the old release.'),
        params,
        body: z.strictObject({ percent }),
        response: { 200: shown, ...errors('body', 409) },
      },
    },
    async ({ params: { projectId, rolloutId }, body }) => {
      const { rollouts } = storage.stores;
      const rollout = await rollouts.find(projectId, rolloutId);
      if (!rollout) throw notFound('Rollout');
      const changed = await rollouts.setPercent(projectId, rolloutId, body.percent);
      if (!changed) throw rolloutEnded(rollout);
      return await withArms(storage, changed);
    },
  );
}

function finishRoute(app: App, deps: HttpDeps, verb: 'promote' | 'rollback'): void {
  const isPromotion = verb === 'promote';
  app.post(
    `${ITEM}/${verb}`,
    {
      config: WRITE,
      schema: {
        ...about(
          'Releases',
          isPromotion ? 'Promote the new release' : 'Roll back to the old release',
          isPromotion
            ? 'Everyone gets it from the next conversation on. The working copy stays as it is, with the status `draft`. 409 `rollout_ended` where it does not run.'
            : 'Everyone gets the old release from the next conversation on. 409 `rollout_ended` where it does not run.',
        ),
        params,
        response: { 200: shown, ...errors(409) },
      },
    },
    async (request, reply) => {
      const { projectId, rolloutId } = request.params;
      const { stores, insights } = deps.storage;
      const rollout = await stores.rollouts.find(projectId, rolloutId);
      if (!rollout) throw notFound('Rollout');
      // Before the transaction, which the figures would hold open.
      const { guards } = judgeArms(rollout, await insights.arms(rollout.id));
      const figures = guards.map((guard) => guard.figures);
      const at = new Date(deps.clock.now()).toISOString();
      await idempotent(deps, { request, reply, status: 200 }, async (transaction) => {
        const status = isPromotion ? 'promoted' : 'rolled_back';
        const hasEnded = await finishRollout(transaction, rollout, status, {
          at,
          reason: 'requested',
          figures,
        });
        if (!hasEnded) throw rolloutEnded(rollout);
        return { id: rollout.id };
      });
      return await withArms(deps.storage, (await stores.rollouts.find(projectId, rolloutId)) ?? rollout);
    },
  );
}

function rolloutEnded({ id }: Rollout): CallwayError {
  return new CallwayError('conflict', 'rollout_ended', `The rollout ${id} does not run any more`);
}

function fieldsOf({ projectId: _projectId, ...fields }: Rollout) {
  return fields;
}

async function withArms({ stores, insights }: HttpDeps['storage'], rollout: Rollout) {
  return await shownOf(stores, rollout, await insights.arms(rollout.id));
}

async function shownOf({ rates }: Stores, rollout: Rollout, rows: readonly ArmRow[]) {
  const currency = await rates.currencyFrom(rollout.projectId, rollout.startedAt);
  return { ...fieldsOf(rollout), arms: armsOf(rollout, rows), currency };
}
