import { z } from 'zod';
import { auditEntry } from '../../../agents/accounts/audit.ts';
import {
  DEFAULT_CHAT_IDLE_MINUTES,
  DEFAULT_SESSION_IDLE_MINUTES,
  type Project,
  project,
  projectInput,
  projectPatch,
  sessionRetentionOf,
} from '../../../agents/accounts/project.ts';
import { DEFAULT_RETENTION_DAYS, retentionFrom } from '../../../agents/accounts/retention.ts';
import { createAgent } from '../../../agents/agents.ts';
import { notFound } from '../../../base/errors.ts';
import { DAY_MS } from '../../../base/values/clock.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { crudRoutes } from '../../crud.ts';
import { type Access, invalidCredential, principalOf } from '../../plugins/accessControl.ts';
import type { App, HttpDeps, Stores } from '../../ports.ts';
import { about, errors, listOf, listResponse, pageQuery, projectParams } from '../../schemas.ts';

/** The fields that a key of the project may change; the others are the operator's. */
const OF_PROJECT = ['callingHours', 'reviewRules'];
const LEGACY_USAGE_DAYS = 30;
const ADMIN: Access = { kind: 'admin' };
const WRITE_OR_ADMIN: Access = { kind: 'project', scope: 'write', admin: true };
const READ_OR_ADMIN: Access = { kind: 'project', scope: 'read', admin: true };

const legacyUsage = z.object({
  sunset: z.iso.datetime().describe('When the legacy routes end.'),
  total: z.int().describe('Requests in the last 30 days.'),
  data: z.array(z.object({ day: z.iso.date(), route: z.string(), requests: z.int() })),
});

export function projectRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Projects',
    noun: 'project',
    path: '/v1/projects',
    idParameter: 'projectId',
    schema: project,
    list: { access: ADMIN, run: ({ stores }, page) => stores.projects.list(page) },
    create: {
      auditAction: 'project.created',
      access: ADMIN,
      description: 'With an agent in draft and a short pathway to start from.',
      body: projectInput,
      async run({ stores, request, id, now }, input) {
        const { retentionDays } = input;
        const days = sessionRetentionOf(input);
        const historyRetentionDays = days === undefined ? DEFAULT_RETENTION_DAYS : days;
        const given = { id, ...input, historyRetentionDays, createdAt: now, updatedAt: now };
        await stores.projects.insert(given);
        const created: Project = {
          ...given,
          retentionDays: retentionFrom(historyRetentionDays, retentionDays),
          sessionIdleMinutes: input.sessionIdleMinutes ?? DEFAULT_SESSION_IDLE_MINUTES,
          chatIdleMinutes: input.sessionIdleMinutes ?? DEFAULT_CHAT_IDLE_MINUTES,
        };
        await createAgent(stores, deps, created, principalOf(request));
        return created;
      },
      auditDetails: ({ name }) => ({ name }),
    },
    get: { access: READ_OR_ADMIN, run: ({ stores, id }) => stores.projects.find(id) },
    update: {
      auditAction: 'project.updated',
      methods: ['PATCH'],
      access: WRITE_OR_ADMIN,
      description:
        'Only the supplied fields change. A key of the project may change `callingHours` and `reviewRules`.',
      body: projectPatch,
      async prepare({ request }, patch) {
        const isOperators = Object.keys(patch).some((field) => !OF_PROJECT.includes(field));
        if (isOperators && principalOf(request).kind !== 'admin') throw invalidCredential();
      },
      async run({ stores, id, now }, patch) {
        const changed = await stores.projects.update(id, patch, now);
        if (changed && patch.callingHours !== undefined) await stores.campaigns.makeDue(id, now);
        return changed;
      },
      auditDetails: (patch) => ({
        changed: Object.keys(patch),
        callLimits: patch.callLimits,
        quotas: patch.quotas,
        retentionDays: patch.retentionDays,
        callingHours: patch.callingHours,
        reviewRules: patch.reviewRules,
      }),
    },
    remove: {
      auditAction: 'project.deleted',
      access: ADMIN,
      description: 'Deletes everything that belongs to it. Its keys are refused at once.',
      async prepare({ stores, id }) {
        await stores.datasets.removeAll(id);
        await stores.projects.removeContents(id);
      },
      async run({ stores, id }) {
        const found = await stores.projects.find(id, 'for removal');
        if (!found) return undefined;
        const [keys, tokens] = [await stores.apiKeys.digestsOf(id), await stores.widgetTokens.digestsOf(id)];
        await stores.projects.remove(id);
        return { name: found.name, digests: [...keys, ...tokens] };
      },
      auditDetails: ({ name }) => ({ name }),
      onRemoved: ({ digests }) => deps.access.revocations.announce(digests),
    },
  });
  auditLogRoute(app, deps);
  legacyUsageRoute(app, deps);
}

/** @throws {CallwayError} 404 `project_not_found` */
export async function requireProjectExists({ projects }: Stores, projectId: string): Promise<void> {
  if (!(await projects.find(projectId))) throw notFound('Project');
}

function auditLogRoute(app: App, { storage: { stores } }: HttpDeps): void {
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
      if (!isUuid(projectId)) throw notFound('Project');
      const page = await stores.audit.list(projectId, query);
      // The audit log outlives its project.
      if (page.total === 0) await requireProjectExists(stores, projectId);
      return listResponse(page, query);
    },
  );
}

function legacyUsageRoute(app: App, { clock, settings, storage: { stores } }: HttpDeps): void {
  app.get(
    '/v1/projects/:projectId/legacy-usage',
    {
      config: { access: READ_OR_ADMIN },
      schema: {
        ...about('Projects', 'Count the use of legacy routes', 'The last 30 days, by day and route.'),
        params: projectParams,
        response: { 200: legacyUsage, ...errors() },
      },
    },
    async ({ params: { projectId } }) => {
      await requireProjectExists(stores, projectId);
      const firstDay = new Date(clock.now() - (LEGACY_USAGE_DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
      const data = await stores.legacyUsage.since(projectId, firstDay);
      const total = data.reduce((sum, { requests }) => sum + requests, 0);
      return { sunset: settings.legacySunset.toISOString(), total, data };
    },
  );
}
