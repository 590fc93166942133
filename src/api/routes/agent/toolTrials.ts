import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import type { SentRequest } from '../../../engine/tools/toolRunner.ts';
import { disconnectSignal } from '../../disconnectSignal.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';

const REDACTED = '[redacted]';

const values = z.record(z.string(), z.unknown());
const trial = z.strictObject({
  arguments: values.default({}).describe('As a model would give them.'),
  variables: values.default({}).describe('Those of the session.'),
});

const trialResult = z.object({
  ok: z.boolean(),
  request: z
    .object({
      method: z.string(),
      url: z.string(),
      headers: z.array(z.object({ key: z.string(), value: z.string() })),
      body: z.string().nullable(),
    })
    .nullable()
    .describe(
      'As it was sent, without the values of the tool’s own headers; null where none was, and for an MCP tool.',
    ),
  status: z.int().nullable().describe('Of the HTTP response.'),
  result: z.string().describe('What the model would be told.'),
  durationMs: z.number().nullable(),
});

export function toolTrialRoutes(app: App, { storage: { stores }, agents: { tools } }: HttpDeps): void {
  app.post(
    '/v1/projects/:projectId/tools/:toolId/try',
    {
      config: { access: { kind: 'project', scope: 'write' }, isLong: true },
      schema: {
        ...about(
          'Tools',
          'Try a tool',
          'Calls it as the agent would. The tool’s own server gets the request.',
        ),
        params: projectParams.extend({ toolId: z.string() }),
        body: trial,
        response: { 200: trialResult, ...errors('body') },
      },
    },
    async (request, reply) => {
      const { projectId, toolId } = request.params;
      const tool = await stores.tools.find(projectId, toolId);
      if (!tool) throw notFound('Tool');
      let sent: SentRequest | undefined;
      const onRequest = (one: SentRequest) => {
        sent = one;
      };
      const { ok, text, status, durationMs } = await tools.run(
        tool,
        JSON.stringify(request.body.arguments),
        request.body.variables,
        disconnectSignal(reply),
        { projectId, by: 'model', onRequest },
      );
      const shown = { ok, result: text, status: status ?? null, durationMs: durationMs ?? null };
      return { ...shown, request: sent ? withoutSecrets(sent) : null };
    },
  );
}

function withoutSecrets({ method, url, headers, body }: SentRequest) {
  const shown = headers.map(({ key, value }) => ({
    key,
    value: key.toLowerCase() === 'content-type' ? value : REDACTED,
  }));
  return { method, url, headers: shown, body: body ?? null };
}
