import { z } from 'zod';
import { readPath } from '../../agents/pathway/evaluateExpression.ts';
import { MAX_NODES } from '../../agents/pathway/schema/pathwaySchema.ts';
import { type SpeechConfig, speech } from '../../agents/speech/speechConfig.ts';
import { type NamedVoice, namedVoices, requireKnownVoices } from '../../agents/speech/voiceCatalog.ts';
import type { App, HttpDeps } from '../ports.ts';

const PROJECT = '/v1/projects/:projectId';
const METHODS: readonly string[] = ['POST', 'PUT', 'PATCH'];

const agentBody = z.object({ speech });
const nodeBody = z.object({ data: z.object({ speech }) });
/** The graph is validated later, apart from the event loop: only nodes with speech are looked at here, and not too many. */
const pathwayBody = z.object({ nodes: z.array(z.unknown()).max(MAX_NODES) });

interface SpeechInBody {
  readonly path: string;
  readonly speech: SpeechConfig;
}

/** Finds the voices in the bodies of these routes; the route itself refuses malformed bodies. */
const PLACES: Readonly<Record<string, (body: unknown) => SpeechInBody[]>> = {
  [`${PROJECT}/agent`]: (body) => inAgent(body),
  [`${PROJECT}/speech/preview`]: (body) => inAgent(body),
  [`${PROJECT}/pathway/nodes`]: (body) => inNode(body, ''),
  [`${PROJECT}/pathway/nodes/:nodeId`]: (body) => inNode(body, ''),
  [`${PROJECT}/pathway`]: (body) =>
    (pathwayBody.safeParse(body).data?.nodes ?? []).flatMap((node, index) => inNode(node, `/nodes/${index}`)),
};

/** Refuses voices that their providers do not have, before anything is saved; without an answer they are saved. */
export function refuseUnknownVoices(app: App, { storage, agents: { voices } }: HttpDeps): void {
  app.addHook('preHandler', async ({ method, routeOptions, params, body }) => {
    const find = METHODS.includes(method) ? PLACES[routeOptions.url ?? ''] : undefined;
    const found = find?.(body) ?? [];
    if (found.length === 0) return;
    const { projectId } = params as { projectId: string };
    const agent = await storage.stores.agents.find(projectId);
    const inherited = agent?.config.speech?.synthesis?.provider;
    const isAgent = routeOptions.url === `${PROJECT}/agent`;
    const named: NamedVoice[] = found.flatMap((one) =>
      namedVoices(one.speech, one.path, isAgent ? undefined : inherited),
    );
    await requireKnownVoices(voices, projectId, named);
  });
}

function inAgent(body: unknown): SpeechInBody[] {
  // Much quicker than a parse that fails.
  if (typeof readPath(body, 'speech') !== 'object') return [];
  const { data } = agentBody.safeParse(body);
  return data ? [{ path: '/speech', speech: data.speech }] : [];
}

function inNode(body: unknown, path: string): SpeechInBody[] {
  if (typeof readPath(body, 'data.speech') !== 'object') return [];
  const { data } = nodeBody.safeParse(body);
  return data ? [{ path: `${path}/data/speech`, speech: data.data.speech }] : [];
}
