import { randomUUID } from 'node:crypto';
import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyRequest } from 'fastify';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  LogController,
  type RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { ZodType } from 'zod';
import { CallwayError, invalid } from '../base/errors.ts';
import { zodDetails } from '../base/validation.ts';
import { replyWithError } from './errors.ts';
import { accessControl } from './plugins/accessControl.ts';
import { refuseOtherModels } from './plugins/allowedModels.ts';
import { answerClientErrors } from './plugins/clientErrors.ts';
import { closeUnusedConnections } from './plugins/drainConnections.ts';
import { shareFairly } from './plugins/fairness.ts';
import { refuseUnknownVoices } from './plugins/knownVoices.ts';
import { legacyRoutes } from './plugins/legacyRoutes.ts';
import { watchMethods } from './plugins/methodNotAllowed.ts';
import { openApi } from './plugins/openapi.ts';
import { requestLifecycle } from './plugins/requestLifecycle.ts';
import { webSockets } from './plugins/webSockets.ts';
import { answerWidgetPreflights } from './plugins/widgetAccess.ts';
import type { App, HttpDeps } from './ports.ts';
import { API_ROUTES } from './routes/apiRoutes.ts';
import { signedRecordingRoute } from './routes/calls/recordings.ts';
import { operationsRoutes } from './routes/operations.ts';
import { audioStreamRoutes } from './routes/sessions/mediaStreams.ts';
import { realtimeRoutes } from './routes/sessions/realtime.ts';

const DEFAULT_BODY_LIMIT_BYTES = 1_048_576;
/** The longest upload; other bodies have less time. @see startBodyTimeout */
const REQUEST_TIMEOUT_MS = 3_600_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** A slow client is noticed at most this much later. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** Longer than the idle time of common load balancers, so that they close a connection first. */
const KEEP_ALIVE_MS = 75_000;
/** OpenAI's newer API, which clients ask for by default. */
const RESPONSES_PATH = /\/responses(?:[/?]|$)/;
const REQUEST_ID = /^[\w.:/-]{1,128}$/;

/** Builds the HTTP API; the caller listens and closes. */
export async function createServer(deps: HttpDeps): Promise<App> {
  const app: App = Fastify({
    ...serverOptions(deps),
    // For paths that Fastify cannot parse it runs no hooks.
    frameworkErrors(error, request, reply) {
      lifecycle.begin(request, reply);
      reply.raw.once('finish', () => lifecycle.end(request, reply));
      replyWithError(error, request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  app.setValidatorCompiler<ZodType>(({ schema }) => validator(schema));
  app.setSerializerCompiler<ZodType>(
    ({ schema }) =>
      (data) =>
        JSON.stringify(schema.parse(data)),
  );
  app.setErrorHandler(replyWithError);
  app.setNotFoundHandler((request, reply) => replyWithError(noSuchRoute(request.url), request, reply));
  app.removeAllContentTypeParsers();
  app.addHook('preClose', async () => {
    // A connection that was busy when the shutdown began would otherwise stay open for the whole idle time.
    app.server.keepAliveTimeout = 1;
  });
  closeUnusedConnections(app);

  const lifecycle = requestLifecycle(app, deps);
  answerWidgetPreflights(app, deps);
  await allowOrigins(app, deps.settings.corsOrigins);
  app.addHook('onRequest', ({ url }, _reply, done) => {
    if (url.includes('%00')) done(invalid('invalid_url', 'The path contains the character U+0000'));
    else done();
  });
  legacyRoutes(app, deps);
  accessControl(app, deps);
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const { 'content-encoding': encoding = 'identity' } = headers;
    done(encoding === 'identity' ? undefined : compressedRequest(encoding));
  });
  shareFairly(app, deps.operations);
  refuseOtherModels(app, deps);
  refuseUnknownVoices(app, deps);

  await openApi(app, deps.settings.publicUrl);
  const refuseOtherMethods = watchMethods(app);
  operationsRoutes(app, deps);
  if (deps.settings.serves.includes('audioStreams')) {
    const sockets = webSockets(app);
    audioStreamRoutes(app, deps, sockets);
    realtimeRoutes(app, deps, sockets);
  }
  if (deps.settings.serves.includes('api')) for (const routes of API_ROUTES) await routes(app, deps);
  else signedRecordingRoute(app, deps);
  refuseOtherMethods();
  return app;
}

function noSuchRoute(url: string): CallwayError {
  const hint = RESPONSES_PATH.test(url) ? '; conversations are answered at chat/completions' : '';
  return new CallwayError('not_found', 'not_found', `There is no such route${hint}`);
}

/** @see RFC 9110 section 15.5.16 */
function compressedRequest(encoding: string): CallwayError {
  const message = `The body must be sent as it is, without content-encoding ${encoding}`;
  return new CallwayError('unsupported', 'unsupported_content_encoding', message);
}

function serverOptions(deps: HttpDeps): FastifyHttpOptions<RawServerDefault, FastifyBaseLogger> {
  return {
    loggerInstance: deps.operations.logger,
    // One logger for all requests: a child for each costs more than its few lines.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    trustProxy: trustOf(deps.settings.trustProxy),
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS },
    forceCloseConnections: 'idle',
    // Requests that arrive over open connections during a shutdown are answered, then the connection is closed.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    clientErrorHandler: answerClientErrors(deps.makeId),
  };
}

/** Fastify counts from the right: 0 is the connection's own address. */
function trustOf(setting: false | number | string[]) {
  return typeof setting === 'number' ? (_address: string, hop: number) => hop < setting : setting;
}

function validator(schema: ZodType) {
  return (data: unknown) => {
    const result = schema.safeParse(data);
    if (result.success) return { value: result.data };
    const details = zodDetails(result.error);
    const [first] = details;
    return { error: invalid('invalid_request', first?.message ?? 'The request is not valid', details) };
  };
}

/**
 * Lets pages of the given origins call the API; without origins it does nothing. Only a preflight is answered here: any
 * other OPTIONS request goes to its route like every other method.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
async function allowOrigins(app: App, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  const options: FastifyCorsOptions = {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-request-id', 'x-session-id', 'etag', 'retry-after', 'idempotency-replayed'],
  };
  await app.register(cors, {
    delegator: (request, done) => done(null, { ...options, preflight: isPreflight(request) }),
  });
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
