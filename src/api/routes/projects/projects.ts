import { z } from 'zod';

import { auditEntry } from '../../../agents/accounts/audit.ts';
import { type Project, project, projectInput, projectPatch } from '../../../agents/accounts/project.ts';
import { createAgent } from '../../../agents/createAgent.ts';
import { isoNow } from '../../../base/clock.ts';
import { notFound } from '../../../base/errors.ts';
import { isUuid } from '../../../base/ids.ts';
import type { App } from '../../app.ts';
import { audit } from '../../audit.ts';
import { createOnce } from '../../idempotency.ts';
import type { Access } from '../../plugins/accessControl.ts';
import { principalOf } from '../../plugins/accessControl.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../../schemas.ts';

const LEGACY_USAGE_DAYS = 30;
const NO_ENTRIES = { items: [], total: 0 };
const admin: Access = { kind: 'admin' };

const legacyUsage = z.object({
  sunset: z.iso.datetime().describe('When the legacy routes end.'),
  total: z.int().describe('Requests in the last 30 days.'),
  data: z.array(z.object({ day: z.iso.date(), route: z.string(), requests: z.int() })),
});

export function projectRoutes(app: App, deps: HttpDeps): void {
  const { storage } = deps;
  const now = isoNow(deps.clock);

  app.post(
    '/v1/projects',
    {
      config: { access: admin },
      schema: {
        ...about(
          'Projects',
          'Create a project',
          'It gets an agent in draft and a short pathway to begin with.',
        ),
        body: projectInput,
        response: { 201: project, ...errors('body', 409) },
      },
    },
    (request, reply) =>
      createOnce(deps, request, reply, { status: 201 }, async (stores) => {
        const created: Project = { id: deps.makeId(), ...request.body, createdAt: now(), updatedAt: now() };
        await stores.projects.insert(created);
        await createAgent(stores, deps, created, principalOf(request));
        await audit(deps, stores, request, {
          action: 'project.created',
          projectId: created.id,
          target: created.id,
          details: { name: created.name },
        });
        return created;
      }),
  );

  app.get(
    '/v1/projects',
    {
      config: { access: admin },
      schema: {
        ...about('Projects', 'List the projects'),
        querystring: pageQuery,
        response: { 200: listOf(project), ...errors() },
      },
    },
    async ({ query }) => listAnswer(await storage.stores.projects.list(query), query),
  );

  app.get(
    '/v1/projects/:projectId',
    {
      config: { access: { kind: 'project', scope: 'read', admin: true } },
      schema: {
        ...about('Projects', 'Get a project'),
        params: projectParams,
        response: { 200: project, ...errors() },
      },
    },
    async ({ params }) => {
      const found = await storage.stores.projects.find(params.projectId);
      if (!found) throw notFound('Project');
      return found;
    },
  );

  app.patch(
    '/v1/projects/:projectId',
    {
      config: { access: admin },
      schema: {
        ...about('Projects', 'Change a project', 'Only the supplied fields change.'),
        params: projectParams,
        body: projectPatch,
        response: { 200: project, ...errors('body') },
      },
    },
    (request) =>
      storage.transaction(async (stores) => {
        const updated = await stores.projects.update(request.params.projectId, request.body, now());
        if (!updated) throw notFound('Project');
        await audit(deps, stores, request, {
          action: 'project.updated',
          projectId: updated.id,
          target: updated.id,
          details: {
            changed: Object.keys(request.body),
            ...(request.body.callLimits ? { callLimits: request.body.callLimits } : {}),
          },
        });
        return updated;
      }),
  );

  app.delete(
    '/v1/projects/:projectId',
    {
      config: { access: admin },
      schema: {
        ...about('Projects', 'Delete a project', 'Everything that belongs to it goes, its keys at once.'),
        params: projectParams,
        response: { 204: noContent, ...errors() },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      await storage.stores.datasets.removeOf(projectId);
      const digests = await storage.transaction(async (stores) => {
        const project = await stores.projects.find(projectId, 'for removal');
        if (!project) throw notFound('Project');
        const keys = await stores.apiKeys.digestsOf(projectId);
        await stores.projects.remove(projectId);
        await audit(deps, stores, request, {
          action: 'project.deleted',
          projectId,
          target: projectId,
          details: { name: project.name },
        });
        return keys;
      });
      await deps.revocations.announce(digests);
      return await reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/projects/:projectId/audit-log',
    {
      config: { access: { kind: 'manage' } },
      schema: {
        ...about('Projects', 'Read the audit log', 'Changes to keys and settings, newest first.'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(auditEntry), ...errors() },
      },
    },
    async ({ params: { projectId }, query }) => {
      // The log outlives its project; a project that never was has neither.
      const page = isUuid(projectId) ? await storage.stores.audit.list(projectId, query) : NO_ENTRIES;
      if (page.total === 0 && !(await storage.stores.projects.find(projectId))) throw notFound('Project');
      return listAnswer(page, query);
    },
  );

  app.get(
    '/v1/projects/:projectId/legacy-usage',
    {
      config: { access: { kind: 'project', scope: 'read', admin: true } },
      schema: {
        ...about('Projects', 'Count the use of legacy routes', 'The last 30 days, by day and route.'),
        params: projectParams,
        response: { 200: legacyUsage, ...errors() },
      },
    },
    async ({ params }) => {
      if (!(await storage.stores.projects.find(params.projectId))) throw notFound('Project');
      const first = new Date(deps.clock.now() - (LEGACY_USAGE_DAYS - 1) * 86_400_000)
        .toISOString()
        .slice(0, 10);
      const data = await storage.stores.legacyUsage.since(params.projectId, first);
      const total = data.reduce((sum, { requests }) => sum + requests, 0);
      return { sunset: deps.settings.legacySunset.toISOString(), total, data };
    },
  );
}
