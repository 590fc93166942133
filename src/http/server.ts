import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { ZodType } from 'zod';

import { CallwayError, invalid, unavailable } from '../base/errors.ts';
import { zodDetails } from '../base/validation.ts';
import { createGate } from './access.ts';
import type { App } from './app.ts';
import { answerClientErrors } from './clientError.ts';
import { replyWithError } from './errors.ts';
import { parseJsonBody } from './jsonBody.ts';
import { createLegacyRoutes } from './plugins/legacy.ts';
import { watchMethods } from './plugins/methodNotAllowed.ts';
import { openApi } from './plugins/openapi.ts';
import { allowOrigins } from './plugins/origins.ts';
import { giveUpSlowBodies } from './plugins/slowBodies.ts';
import { webSockets } from './plugins/webSockets.ts';
import type { HttpDeps } from './ports.ts';
import { rememberRoutes } from './requestRoute.ts';
import { agentRoutes } from './routes/agent.ts';
import { apiKeyRoutes } from './routes/apiKeys.ts';
import { callRoutes } from './routes/calls.ts';
import { chatCompletionRoutes } from './routes/chatCompletions.ts';
import { chunkRoutes } from './routes/chunks.ts';
import { datasetRoutes } from './routes/datasets.ts';
import { datasetUploadRoutes } from './routes/datasetUpload.ts';
import { knowledgebaseRoutes } from './routes/knowledgebases.ts';
import { knowledgeQueryRoutes } from './routes/knowledgeQuery.ts';
import { mediaStreamRoutes, talkRoutes } from './routes/mediaStreams.ts';
import { modelRoutes } from './routes/models.ts';
import { documentRoutes, operationsRoutes } from './routes/operations.ts';
import { outboundCallRoutes } from './routes/outboundCalls.ts';
import { pathwayRoutes } from './routes/pathway.ts';
import { pathwayEdgeRoutes, pathwayNodeRoutes } from './routes/pathwayParts.ts';
import { phoneNumberRoutes } from './routes/phoneNumbers.ts';
import { projectRoutes } from './routes/projects.ts';
import { recordingRoutes } from './routes/recordings.ts';
import { sessionHistoryRoutes } from './routes/sessionHistory.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { testCaseRoutes } from './routes/testCases.ts';
import { testSuiteRoutes } from './routes/testSuites.ts';
import { toolRoutes } from './routes/tools.ts';
import { trunkRoutes } from './routes/trunks.ts';
import { webhookRoutes } from './routes/webhooks.ts';

export const DEFAULT_BODY_LIMIT_BYTES = 1_048_576;
/** The longest that any request may take to come in; most have less. @see BodyWatch */
const REQUEST_TIMEOUT_MILLISECONDS = 3_600_000;
const HEADERS_TIMEOUT_MILLISECONDS = 10_000;
/** How much later than that a slow client may be noticed. */
const TIMEOUT_CHECK_MILLISECONDS = 1_000;
/** Longer than the idle time of common load balancers, so that they and not we close first. */
const KEEP_ALIVE_MILLISECONDS = 75_000;
const REQUEST_ID_FORM = /^[\w.:/-]{1,128}$/;

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Builds the HTTP API; the caller listens and closes. */
export async function createServer(deps: HttpDeps): Promise<App> {
  const app = Fastify(serverOptions(deps)).withTypeProvider<ZodTypeProvider>();
  app.server.headersTimeout = HEADERS_TIMEOUT_MILLISECONDS;
  app.setValidatorCompiler<ZodType>(({ schema }) => (data) => {
    const result = schema.safeParse(data);
    if (result.success) return { value: result.data };
    const details = zodDetails(result.error);
    const [first] = details;
    return { error: invalid('invalid_request', first?.message ?? 'The request is not valid', details) };
  });
  app.setSerializerCompiler<ZodType>(({ schema, method, url }) => (answer) => {
    // Answers have no codecs: what they are parsed to is what they are, less fields that the schema does not name.
    const result = schema.safeParse(answer);
    if (result.success) return JSON.stringify(result.data);
    throw new Error(`the answer of ${method} ${url} is not as its schema says`, { cause: result.error });
  });
  app.setErrorHandler(replyWithError);
  app.setNotFoundHandler((request, reply) =>
    replyWithError(new CallwayError('not_found', 'not_found', 'There is no such route'), request, reply),
  );
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
  rememberRoutes(app);
  await addHooks(app, deps);
  await openApi(app, deps.settings.publicUrl);
  await webSockets(app);
  const refuseOtherMethods = watchMethods(app);
  operationsRoutes(app, deps);
  if (deps.settings.serves.includes('talks')) talkRoutes(app, deps);
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

async function addHooks(app: App, deps: HttpDeps): Promise<void> {
  await allowOrigins(app, deps.settings.corsOrigins);
  const legacy = createLegacyRoutes(app, { ...deps, usage: deps.storage.stores.legacyUsage });
  const gate = createGate(deps);
  // The line of each request has fixed fields, none of which is redacted: looking for such costs more than the line.
  const requestLines = deps.logger.child({}, { redact: [] });
  // One hook for each event, and no promise where nothing is waited for: each costs every request.
  app.addHook('onRequest', (request, reply, done) => {
    addCommonHeaders(request, reply);
    // Who keeps connections open comes over another one next, to a node that stays.
    if (deps.settings.isDraining()) reply.header('connection', 'close');
    if (request.url.includes('%00')) throw invalid('invalid_url', 'The path holds the character U+0000');
    legacy.announce(request, reply);
    requireDependencies(request, deps.dependencies);
    const waiting = gate(request);
    if (waiting) waiting.then(() => done(), done);
    else done();
  });
  app.addHook('preClose', async () => {
    // Else a connection that was busy when the stop began would hold it up for as long as it may idle.
    app.server.keepAliveTimeout = 1;
  });
  app.addHook('onResponse', (request, reply, done) => {
    legacy.count(request);
    const route = request.route.url ?? 'unknown';
    const { method } = request;
    deps.metrics.requestDone({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    requestLines.info(
      {
        requestId: request.id,
        method,
        route,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime),
      },
      'request done',
    );
    done();
  });
}

/** @throws {CallwayError} 503 on routes that are not public, while something that they stand on is known to be away. */
function requireDependencies(request: FastifyRequest, dependencies: HttpDeps['dependencies']): void {
  if ((request.route.config.access?.kind ?? 'public') === 'public') return;
  const away = dependencies.find((dependency) => dependency.isAway?.());
  if (away) throw unavailable(away.name);
}

function addCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.headers(SECURITY_HEADERS);
}

function serverOptions(deps: HttpDeps): FastifyHttpOptions<RawServerDefault, FastifyBaseLogger> {
  return {
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID_FORM.test(given) ? given : deps.makeId();
    },
    // A logger for each request costs more than all of its hooks; the few lines about one name it themselves.
    childLoggerFactory: (logger) => logger,
    trustProxy: deps.settings.trustProxy,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MILLISECONDS,
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
    http: { connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS },
    forceCloseConnections: 'idle',
    // What still comes over an open connection while the service stops is answered; then the connection closes.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    frameworkErrors(error, request, reply) {
      addCommonHeaders(request, reply);
      replyWithError(error, request, reply);
    },
    clientErrorHandler: answerClientErrors(deps.makeId),
  };
}
