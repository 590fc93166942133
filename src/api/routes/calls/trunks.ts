import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import {
  type Trunk,
  type TrunkHealth,
  trunkInput,
  trunkPatch,
  trunkResource,
} from '../../../calls/trunks/trunk.ts';
import { requireUsableTrunk } from '../../../calls/trunks/trunkRules.ts';
import type { App } from '../../app.ts';
import { audit } from '../../audit.ts';
import { createOnce } from '../../idempotency.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listOf, noContent, pageQuery, pagination, projectParams } from '../../schemas.ts';

const BASE = '/v1/projects/:projectId/trunks';
const trunkParams = projectParams.extend({ trunkId: z.string() });
const read = { access: { kind: 'project', scope: 'read' } } as const;
const write = { access: { kind: 'project', scope: 'write' } } as const;
const UNKNOWN: TrunkHealth = {
  reachable: null,
  registered: null,
  lastOptionsMs: null,
  channelsInUse: 0,
  error: null,
};

export function trunkRoutes(app: App, deps: HttpDeps): void {
  registerReads(app, deps);
  registerCreation(app, deps);
  registerChanges(app, deps);
}

function registerReads(app: App, { storage, calls }: HttpDeps): void {
  const { trunks } = storage.stores;

  app.get(
    BASE,
    {
      config: read,
      schema: {
        ...about(
          'Trunks',
          'List the trunks',
          'With what is known of their health; never with their passwords.',
        ),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(trunkResource).extend({ pagination }), ...errors() },
      },
    },
    async ({ params, query }) => {
      const { items, total } = await trunks.list(params.projectId, query);
      const health = await calls.trunkHealth(items.map(({ id }) => id));
      const { limit, offset } = query;
      return {
        data: items.map((trunk) => show(trunk, health.get(trunk.id))),
        pagination: { limit, offset, total },
      };
    },
  );

  app.get(
    `${BASE}/:trunkId`,
    {
      config: read,
      schema: {
        ...about('Trunks', 'Get a trunk'),
        params: trunkParams,
        response: { 200: trunkResource, ...errors() },
      },
    },
    async ({ params }) => {
      const trunk = found(await trunks.find(params.projectId, params.trunkId));
      return show(trunk, (await calls.trunkHealth([trunk.id])).get(trunk.id));
    },
  );
}

function registerCreation(app: App, deps: HttpDeps): void {
  app.post(
    BASE,
    {
      config: write,
      schema: {
        ...about('Trunks', 'Create a trunk', 'The password is sealed where it is stored, and never shown.'),
        params: projectParams,
        body: trunkInput.meta({ id: 'NewTrunk', examples: [EXAMPLE] }),
        response: { 201: trunkResource, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      const created = await createOnce(deps, request, reply, { status: 201 }, async (stores) => {
        requireUsableTrunk(request.body);
        const id = deps.makeId();
        const trunk = await stores.trunks.insert(projectId, id, request.body, now(deps));
        const details = { name: trunk.name, host: trunk.host };
        await audit(deps, stores, request, { action: 'trunk.created', projectId, target: id, details });
        return show(trunk, undefined);
      });
      await deps.calls.trunksChanged();
      return created;
    },
  );
}

function registerChanges(app: App, deps: HttpDeps): void {
  const { storage, calls } = deps;

  app.patch(
    `${BASE}/:trunkId`,
    {
      config: write,
      schema: {
        ...about('Trunks', 'Change a trunk', 'Only the supplied fields change; `password: null` removes it.'),
        params: trunkParams,
        body: trunkPatch.meta({ id: 'TrunkPatch', examples: [{ status: 'inactive' }] }),
        response: { 200: trunkResource, ...errors('body') },
      },
    },
    async (request) => {
      const { projectId, trunkId } = request.params;
      const changed = Object.keys(request.body);
      const trunk = await storage.transaction(async (stores) => {
        const updated = found(await stores.trunks.update(projectId, trunkId, request.body, now(deps)));
        requireUsableTrunk(updated);
        await audit(deps, stores, request, {
          action: 'trunk.updated',
          projectId,
          target: trunkId,
          details: { changed },
        });
        return updated;
      });
      await calls.trunksChanged();
      return show(trunk, (await calls.trunkHealth([trunk.id])).get(trunk.id));
    },
  );

  app.delete(
    `${BASE}/:trunkId`,
    {
      config: write,
      schema: {
        ...about('Trunks', 'Delete a trunk', 'One that a phone number names is kept: 409.'),
        params: trunkParams,
        response: { 204: noContent, ...errors(409) },
      },
    },
    async (request, reply) => {
      const { projectId, trunkId } = request.params;
      await storage.transaction(async (stores) => {
        if (!(await stores.trunks.remove(projectId, trunkId))) throw notFound('Trunk');
        await audit(deps, stores, request, { action: 'trunk.deleted', projectId, target: trunkId });
      });
      await calls.trunksChanged();
      return await reply.code(204).send(null);
    },
  );
}

const EXAMPLE = {
  name: 'Carrier',
  host: 'sip.example.com',
  username: 'callway',
  password: 'secret',
  register: true,
};

const now = ({ clock }: HttpDeps) => new Date(clock.now()).toISOString();

function found(trunk: Trunk | undefined): Trunk {
  if (!trunk) throw notFound('Trunk');
  return trunk;
}

function show({ projectId: _project, password, ...trunk }: Trunk, health: TrunkHealth | undefined) {
  return { ...trunk, hasPassword: password !== null, health: health ?? UNKNOWN };
}
