import type { McpServers } from '../../agents/mcp/mcpServers.ts';
import type { TemplateCache, Variables } from '../../agents/pathway/templates.ts';
import type { SchemaChecker } from '../../agents/schemaChecker.ts';
import { type HttpTool, isMcpTool, type McpTool, type Tool } from '../../agents/tool.ts';
import type { ComputeShares } from '../../base/async/computeShares.ts';
import { CallwayError } from '../../base/errors.ts';
import { noopTracer, type Tracer } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { GuardedHttpClient } from '../../http/client.ts';
import { withTraceparent } from '../../http/headers.ts';
import { responseText } from '../../http/response.ts';
import type { SessionPolicy } from '../session/sessionPolicy.ts';
import { type ToolValues, toolRequest } from './toolRequest.ts';

/** The longest part of a tool's response that a model is shown. */
const MAX_RESULT_BYTES = 16_384;
const MAX_RESPONSE_BYTES = 262_144;

export interface ToolOutcome {
  readonly ok: boolean;
  /** The text for the model and the history. */
  readonly text: string;
  /** The response as JSON; undefined when it is no JSON. */
  readonly value?: unknown;
  readonly durationMs?: number;
  readonly status?: number;
}

/** The request of an HTTP tool, with its secrets. */
export type SentRequest = ReturnType<typeof toolRequest>;

export interface ToolRunnerDeps {
  readonly client: GuardedHttpClient;
  readonly mcpServers: McpServers;
  readonly clock: Clock;
  readonly templates: TemplateCache;
  readonly schemas: SchemaChecker;
  readonly shares: ComputeShares;
  /** Default: no tracing. */
  readonly tracing?: Tracer;
}

export interface ToolCaller {
  readonly projectId: string;
  /** The session's variables go before a model's arguments of the same name, and after those that a node gives. */
  readonly by: 'model' | 'pathway';
  readonly traceparent?: string | undefined;
  /** The request of an HTTP tool is about to be sent. */
  readonly onRequest?: (request: SentRequest) => void;
  /** @see SessionPolicy.standIns */
  readonly standIns?: SessionPolicy['standIns'];
}

/** Runs the project's own tools. A failure is an outcome that the model is told; only an abort throws. */
export interface ToolRunner {
  run(
    tool: Tool,
    argumentsText: string,
    variables: Variables,
    signal: AbortSignal,
    caller: ToolCaller,
  ): Promise<ToolOutcome>;
}

export function createToolRunner(deps: ToolRunnerDeps): ToolRunner {
  const { tracing = noopTracer } = deps;
  return {
    async run(tool, argumentsText, variables, signal, caller) {
      const parsed = parseArguments(argumentsText);
      if (!parsed) return failure('The arguments are not a JSON object');
      const args = caller.by === 'model' ? withVariablesFirst(parsed, variables, tool) : parsed;
      const span = tracing.startSpan(`execute_tool ${tool.name}`, {
        kind: 'client',
        parent: caller.traceparent,
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool.name },
      });
      try {
        const objection = await deps.schemas.checkArguments(caller.projectId, tool.parameters, args);
        if (objection) return failure(`The arguments do not fit the tool: ${objection}`);
        const call = { ...caller, traceparent: span.traceparent, signal };
        const outcome = isMcpTool(tool)
          ? await callMcp(deps, tool, args, call)
          : await callHttp(deps, tool, { args, variables }, call);
        if (outcome.status !== undefined) span.setAttributes({ 'http.response.status_code': outcome.status });
        return outcome;
      } catch (error) {
        if (signal.aborted) throw error;
        span.recordError(error);
        return failure(error instanceof CallwayError ? error.message : 'The tool failed');
      } finally {
        span.end();
      }
    },
  };
}

interface Call extends ToolCaller {
  readonly signal: AbortSignal;
}

async function callMcp(
  { mcpServers, clock }: ToolRunnerDeps,
  tool: McpTool,
  args: Variables,
  { projectId, signal, traceparent }: Call,
): Promise<ToolOutcome> {
  const startedMs = clock.monotonicMs();
  const { text, ...result } = await mcpServers.call(projectId, tool, { args, signal, traceparent });
  return { ...result, text: cutResult(text), durationMs: clock.monotonicMs() - startedMs };
}

async function callHttp(
  deps: ToolRunnerDeps,
  tool: HttpTool,
  values: ToolValues,
  { projectId, signal, traceparent, onRequest }: Call,
): Promise<ToolOutcome> {
  const request = toolRequest(tool, values, { cache: deps.templates, share: deps.shares.of(projectId) });
  onRequest?.(request);
  return await send(deps, request, signal, traceparent);
}

async function send(
  { client }: ToolRunnerDeps,
  request: SentRequest,
  signal: AbortSignal,
  traceparent: string | undefined,
): Promise<ToolOutcome> {
  const headers = withTraceparent(request.headers, traceparent);
  const answer = await client.request({ ...request, headers, maxResponseBytes: MAX_RESPONSE_BYTES, signal });
  const { status, durationMs } = answer;
  const whole = responseText(answer);
  const text = cutResult(whole);
  const ok = status >= 200 && status < 300;
  const value = parseValue(whole);
  return {
    ok,
    text: ok ? text : `HTTP ${status}: ${text}`,
    status,
    durationMs,
    value,
  };
}

/** Cuts a result to what a model and the history are shown: between characters, with a note that says so. */
export function cutResult(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_RESULT_BYTES) return text;
  // As a stream, a character that is cut in two is left out.
  const start = new TextDecoder().decode(bytes.subarray(0, MAX_RESULT_BYTES), { stream: true });
  return `${start}\n[Cut here: this is the beginning, ${MAX_RESULT_BYTES} of ${bytes.length} bytes.]`;
}

/**
 * Merges arguments and variables: the session's variables replace arguments of the same name, which a model must not
 * change.
 */
function withVariablesFirst(args: Variables, variables: Variables, { parameters }: Tool): Variables {
  const known = Object.keys(args).filter((name) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value !== undefined && value !== null && value !== '';
  });
  const first = Object.fromEntries(known.map((name) => [name, variables[name]]));
  return { ...args, ...withSchemaTypes(first, parameters) };
}

export function parseArguments(text: string): Record<string, unknown> | undefined {
  const value = text.trim() === '' ? {} : parseValue(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function failure(text: string): ToolOutcome {
  return { ok: false, text };
}

/** Templates render to text or a variable's value; converts it where the tool's schema asks for another type. */
export function withSchemaTypes(
  args: Variables,
  { properties }: Readonly<Record<string, unknown>>,
): Variables {
  if (typeof properties !== 'object' || properties === null) return args;
  const types = properties as Record<string, { type?: unknown } | undefined>;
  const typeOf = (key: string) => (Object.hasOwn(types, key) ? types[key]?.type : undefined);
  return Object.fromEntries(Object.entries(args).map(([key, item]) => [key, asType(item, typeOf(key))]));
}

/** @returns The value itself where it is nothing of the type. */
function asType(value: unknown, type: unknown): unknown {
  if (type === 'string')
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof value !== 'string') return value;
  if (type === 'boolean') return value === 'true' || value === 'false' ? value === 'true' : value;
  const isNumber = (type === 'number' || type === 'integer') && value.trim() !== '';
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : value;
}
