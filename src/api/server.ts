import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  LogController,
  type RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';

import { CallwayError } from '../base/errors.ts';
import type { App } from './app.ts';
import { chatCompletionRoutes } from './chat/chatCompletions.ts';
import { modelRoutes } from './chat/models.ts';
import { replyWithError } from './errors.ts';
import { answerClientErrors } from './plugins/clientErrors.ts';
import { allowOrigins } from './plugins/cors.ts';
import { parseJsonBody } from './plugins/jsonBody.ts';
import { watchMethods } from './plugins/methodNotAllowed.ts';
import { openApi } from './plugins/openapi.ts';
import { attendRequests } from './plugins/requestLifecycle.ts';
import { giveUpSlowBodies } from './plugins/slowBodies.ts';
import { webSockets } from './plugins/webSockets.ts';
import { holdToSchemas } from './plugins/zodSchemas.ts';
import type { HttpDeps } from './ports.ts';
import { agentRoutes } from './routes/agent/agent.ts';
import { pathwayRoutes } from './routes/agent/pathway.ts';
import { pathwayEdgeRoutes, pathwayNodeRoutes } from './routes/agent/pathwayParts.ts';
import { testCaseRoutes } from './routes/agent/testCases.ts';
import { testSuiteRoutes } from './routes/agent/testSuites.ts';
import { toolRoutes } from './routes/agent/tools.ts';
import { callRoutes } from './routes/calls/calls.ts';
import { outboundCallRoutes } from './routes/calls/outboundCalls.ts';
import { phoneNumberRoutes } from './routes/calls/phoneNumbers.ts';
import { recordingRoutes } from './routes/calls/recordings.ts';
import { trunkRoutes } from './routes/calls/trunks.ts';
import { chunkRoutes } from './routes/knowledge/chunks.ts';
import { datasetRoutes } from './routes/knowledge/datasets.ts';
import { datasetUploadRoutes } from './routes/knowledge/datasetUpload.ts';
import { knowledgebaseRoutes } from './routes/knowledge/knowledgebases.ts';
import { knowledgeQueryRoutes } from './routes/knowledge/knowledgeQuery.ts';
import { documentRoutes, operationsRoutes } from './routes/operations.ts';
import { apiKeyRoutes } from './routes/projects/apiKeys.ts';
import { projectRoutes } from './routes/projects/projects.ts';
import { webhookRoutes } from './routes/projects/webhooks.ts';
import { mediaStreamRoutes, talkRoutes } from './routes/sessions/mediaStreams.ts';
import { sessionHistoryRoutes } from './routes/sessions/sessionHistory.ts';
import { sessionRoutes } from './routes/sessions/sessions.ts';

export const DEFAULT_BODY_LIMIT_BYTES = 1_048_576;
/** The longest that any request may take to come in; most have less. @see BodyWatch */
const REQUEST_TIMEOUT_MILLISECONDS = 3_600_000;
const HEADERS_TIMEOUT_MILLISECONDS = 10_000;
/** How much later than that a slow client may be noticed. */
const TIMEOUT_CHECK_MILLISECONDS = 1_000;
/** Longer than the idle time of common load balancers, so that they and not we close first. */
const KEEP_ALIVE_MILLISECONDS = 75_000;
const REQUEST_ID_FORM = /^[\w.:/-]{1,128}$/;

/** Builds the HTTP API; the caller listens and closes. */
export async function createServer(deps: HttpDeps): Promise<App> {
  const app = Fastify({
    ...serverOptions(deps),
    frameworkErrors(error, request, reply) {
      attendance.begin(request, reply);
      replyWithError(error, request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();
  app.log = deps.logger;
  app.server.headersTimeout = HEADERS_TIMEOUT_MILLISECONDS;
  holdToSchemas(app);
  app.setErrorHandler(replyWithError);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJsonBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });

  app.decorateRequest('principal', undefined);
  giveUpSlowBodies(app, deps.clock);
  const attendance = attendRequests(app, deps);
  const hooksOfUnknown: object = { onRequest: attendance.ofUnknown };
  app.setNotFoundHandler(hooksOfUnknown, (request, reply) =>
    replyWithError(new CallwayError('not_found', 'not_found', 'There is no such route'), request, reply),
  );
  app.addHook('preClose', async () => {
    // Else a connection that was busy when the stop began would hold it up for as long as it may idle.
    app.server.keepAliveTimeout = 1;
  });
  await allowOrigins(app, deps.settings.corsOrigins, attendance);
  await openApi(app, deps.settings.publicUrl);
  const refuseOtherMethods = watchMethods(app);
  operationsRoutes(app, deps);
  if (deps.settings.serves.includes('talks')) await webSockets(app, (scope) => talkRoutes(scope, deps));
  if (deps.settings.serves.includes('api')) for (const routes of API_ROUTES) await routes(app, deps);
  refuseOtherMethods();
  return app;
}

const API_ROUTES = [
  documentRoutes,
  projectRoutes,
  apiKeyRoutes,
  agentRoutes,
  pathwayRoutes,
  pathwayNodeRoutes,
  pathwayEdgeRoutes,
  toolRoutes,
  testCaseRoutes,
  testSuiteRoutes,
  chatCompletionRoutes,
  modelRoutes,
  sessionRoutes,
  sessionHistoryRoutes,
  webhookRoutes,
  mediaStreamRoutes,
  knowledgebaseRoutes,
  datasetRoutes,
  datasetUploadRoutes,
  chunkRoutes,
  knowledgeQueryRoutes,
  recordingRoutes,
  trunkRoutes,
  phoneNumberRoutes,
  outboundCallRoutes,
  callRoutes,
];

function serverOptions(deps: HttpDeps): FastifyHttpOptions<RawServerDefault, FastifyBaseLogger> {
  return {
    // No logger: Fastify would make one for each request, and watch the end of each. @see Attendance
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID_FORM.test(given) ? given : deps.makeId();
    },
    trustProxy: deps.settings.trustProxy,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MILLISECONDS,
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
    http: { connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS },
    forceCloseConnections: 'idle',
    // What still comes over an open connection while the service stops is answered; then the connection closes.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    clientErrorHandler: answerClientErrors(deps.makeId),
  };
}
