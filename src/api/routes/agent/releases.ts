import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { actorOf } from '../../../agents/accounts/principal.ts';
import { type AgentConfig, agentConfig, withoutSecrets } from '../../../agents/agentConfig.ts';
import { knownNames } from '../../../agents/pathway/editPathway.ts';
import { pathwaySchema } from '../../../agents/pathway/schema/pathwaySchema.ts';
import { diffReleases } from '../../../agents/releases/diffReleases.ts';
import { publish } from '../../../agents/releases/publish.ts';
import type { NumberedRelease, ReleaseInfo } from '../../../agents/releases/release.ts';
import { restoreRelease } from '../../../agents/releases/restoreRelease.ts';
import { CallwayError, notFound } from '../../../base/errors.ts';
import { mapPage } from '../../../base/values/page.ts';
import { idempotent } from '../../idempotency.ts';
import { keyOf, maySeeSecrets } from '../../plugins/accessControl.ts';
import { requireAllowedModels } from '../../plugins/allowedModels.ts';
import type { App, HttpDeps, Stores } from '../../ports.ts';
import { about, errors, listOf, listResponse, pageQuery, projectParams } from '../../schemas.ts';
import { pathwayResponse, showPathway } from './pathway.ts';

const PATH = '/v1/projects/:projectId/releases';
const MAX_NOTE_CHARACTERS = 2_000;
const READ = { access: { kind: 'project', scope: 'read' } } as const;
const WRITE = { access: { kind: 'project', scope: 'write' } } as const;

const releaseNumber = z.string().regex(/^\d{1,9}$/, '{field} must be the number of a release');
const params = projectParams.extend({ release: releaseNumber });

const releaseInfo = z
  .object({
    release: z.int().describe('1 for the first; each release adds 1.'),
    createdAt: z.iso.datetime(),
    createdBy: z.object({ kind: z.string(), keyId: z.string().optional(), hint: z.string().optional() }),
    note: z.string().nullable().describe('Null for a release that an edit made, while published.'),
    isLive: z.boolean().describe('Whether callers get it. A rollout gives some of them another one.'),
  })
  .meta({ id: 'Release' });

const wholeRelease = releaseInfo.extend({
  agent: agentConfig,
  pathway: z.object({ id: z.uuid(), version: z.int(), ...pathwaySchema.shape }),
});

const publication = z.strictObject({
  note: z
    .string()
    .max(MAX_NOTE_CHARACTERS)
    .nullish()
    .describe('What is new, for those who read the list.')
    .meta({ example: 'Asks for the order number first' }),
  live: z
    .boolean()
    .default(true)
    .describe(
      'False keeps a release, which a test run or a rollout may name; callers get what they got before.',
    ),
});

const anything = z.unknown().optional();
const fieldChange = z.object({
  path: z.string().describe('JSON pointer into the agent, the node or the edge.'),
  from: anything.describe('Absent where the field did not exist.'),
  to: anything.describe('Absent where the field does not exist any more.'),
  words: z
    .array(z.object({ kind: z.enum(['same', 'added', 'removed']), text: z.string() }))
    .optional()
    .describe('Of two texts; absent where they are too long to be compared.'),
});
const part = z.looseObject({ id: z.string() });
const namedPart = part.extend({ title: z.string() });
const changed = z.object({ id: z.string(), fields: z.array(fieldChange) });
const releaseDiff = z
  .object({
    agent: z.array(fieldChange),
    nodes: z.object({
      added: z.array(namedPart),
      removed: z.array(namedPart),
      changed: z.array(changed.extend({ title: z.string() })),
    }),
    edges: z.object({ added: z.array(part), removed: z.array(part), changed: z.array(changed) }),
  })
  .meta({ id: 'ReleaseDiff' });

export function releaseRoutes(app: App, deps: HttpDeps): void {
  publishRoute(app, deps);
  listRoute(app, deps);
  getRoute(app, deps);
  restoreRoute(app, deps);
  diffRoute(app, deps);
}

function publishRoute(app: App, deps: HttpDeps): void {
  app.post(
    '/v1/projects/:projectId/agent/publish',
    {
      config: WRITE,
      schema: {
        ...about(
          'Releases',
          'Publish the agent',
          'Makes a release of the agent’s working copy: its configuration, its pathway and the tools. It is live for the next conversations, the status becomes `published`, and a rollout that runs has ended. `status: published` in an update of the agent does the same.',
        ),
        params: projectParams,
        body: publication.nullish(),
        response: { 200: releaseInfo, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      const { note = null, live } = request.body ?? publication.parse({});
      return await idempotent(deps, { request, reply, status: 200 }, async (stores) => {
        const release = await publish(stores, projectId, editOf(request, deps), { note, live });
        return await shownInfo(stores, projectId, await findRelease(stores, projectId, String(release)));
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
        ...about(
          'Releases',
          'List the releases',
          'Newest first. Edits of a published agent make releases by themselves: those of one author within a minute share one, until a conversation has begun on it. Of these the oldest that no session of the history had are removed beyond the quota `pathwayVersions`; publications stay as long as the project.',
        ),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(releaseInfo), ...errors() },
      },
    },
    async ({ params: { projectId }, query }) => {
      const live = await liveNumber(stores, projectId);
      const page = await stores.numberedReleases.list(projectId, query);
      return listResponse(
        mapPage(page, (info) => ({ ...info, isLive: info.release === live })),
        query,
      );
    },
  );
}

function getRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    `${PATH}/:release`,
    {
      config: READ,
      schema: {
        ...about('Releases', 'Get a release', 'The configuration and the pathway, whole.'),
        params,
        response: { 200: wholeRelease, ...errors() },
      },
    },
    async (request) => {
      const { projectId, release } = request.params;
      const found = await findRelease(stores, projectId, release);
      const { agent, pathway } = shownContent(request, found);
      const { pathwayId: id, pathwayVersion: version } = found.content;
      return { ...(await shownInfo(stores, projectId, found)), agent, pathway: { id, version, ...pathway } };
    },
  );
}

function restoreRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${PATH}/:release/restore`,
    {
      config: WRITE,
      schema: {
        ...about(
          'Releases',
          'Restore a release',
          'Makes it the working copy again: the agent’s configuration, with the header values it had, and a new version of the pathway. The status stays as it is; while published, callers get it at once. Tools belong to the project and stay as they are; a pathway with a tool that was deleted is refused.',
        ),
        params,
        response: { 200: z.object({ agent: agentConfig, pathway: pathwayResponse }), ...errors(409) },
      },
    },
    async (request, reply) => {
      const { projectId, release } = request.params;
      const { stores } = deps.storage;
      const found = await findRelease(stores, projectId, release);
      requireAllowedModels(deps, found.content);
      const names = await knownNames(stores, projectId);
      await deps.agents.pathways.parsePathway(projectId, found.content.pathway, names);
      const { targetPolicy } = deps.agents;
      return await idempotent(
        deps,
        {
          request,
          reply,
          status: 200,
          withoutSecrets: (body: { agent: AgentConfig }) => ({ ...body, agent: withoutSecrets(body.agent) }),
        },
        async (transaction) => {
          const edit = editOf(request, deps);
          const restored = await restoreRelease(transaction, targetPolicy, projectId, found, edit);
          return { agent: restored.agent, pathway: showPathway(reply, restored.pathway) };
        },
      );
    },
  );
}

function diffRoute(app: App, deps: HttpDeps): void {
  app.get(
    `${PATH}/:release/diff`,
    {
      config: { ...READ, isLong: true },
      schema: {
        ...about(
          'Releases',
          'Compare two releases',
          'What `release` has that is different from `with`, texts by words. Where a node stands on the canvas is no difference.',
        ),
        params,
        querystring: z.object({
          with: releaseNumber
            .optional()
            .describe('The number of the older one. Default: the release before.'),
        }),
        response: { 200: releaseDiff, ...errors() },
      },
    },
    async (request) => {
      const { projectId, release } = request.params;
      const { stores } = deps.storage;
      const to = await findRelease(stores, projectId, release);
      const { with: other } = request.query;
      const from = other
        ? await findRelease(stores, projectId, other)
        : await stores.numberedReleases.findBefore(projectId, to.release);
      if (!from) {
        const message = `There is no release before ${to.release}: name one by \`with\``;
        throw new CallwayError('not_found', 'release_not_found', message);
      }
      return diffReleases(shownContent(request, from), shownContent(request, to), deps.clock.monotonicMs);
    },
  );
}

function editOf(request: FastifyRequest, { clock }: HttpDeps) {
  return { author: actorOf(keyOf(request)), at: new Date(clock.now()).toISOString() };
}

/** @throws {CallwayError} 404 `release_not_found` */
async function findRelease(stores: Stores, projectId: string, release: string): Promise<NumberedRelease> {
  const found = await stores.numberedReleases.find(projectId, Number(release));
  if (!found) throw notFound('Release');
  return found;
}

function shownContent(request: FastifyRequest, { content: { agent, pathway } }: NumberedRelease) {
  return { agent: maySeeSecrets(request) ? agent : withoutSecrets(agent), pathway };
}

async function shownInfo(
  stores: Stores,
  projectId: string,
  { release, createdAt, createdBy, note }: ReleaseInfo,
) {
  return { release, createdAt, createdBy, note, isLive: release === (await liveNumber(stores, projectId)) };
}

async function liveNumber({ agents }: Stores, projectId: string): Promise<number | null | undefined> {
  return (await agents.find(projectId))?.live;
}
