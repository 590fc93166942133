import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { RESERVED_VARIABLES } from '../../agents/fields.ts';
import { renderTemplate, type TemplateCache } from '../../agents/pathway/templates.ts';
import type { Tool } from '../../agents/tool.ts';
import { noopTracer, type Tracer } from '../../base/tracing.ts';
import { type GuardedHttpClient, responseText } from '../../infra/httpClient/client.ts';
import { withTraceparent } from '../../infra/httpClient/headers.ts';

/** The longest part of a tool's response that a model is shown. */
const MAX_RESULT_CHARACTERS = 20_000;
const MAX_RESPONSE_BYTES = 262_144;

export interface ToolOutcome {
  readonly ok: boolean;
  /** For the model and the history. */
  readonly text: string;
  /** The response as JSON; absent where it is no JSON. */
  readonly value?: unknown;
  readonly durationMs?: number;
  readonly status?: number;
}

export interface ToolRunnerDeps {
  readonly client: Pick<GuardedHttpClient, 'request'>;
  readonly templates: TemplateCache;
  /** Default: no tracing. */
  readonly tracing?: Tracer;
}

/** Runs the project's own HTTP tools. A failure is an outcome that the model is told; only an abort throws. */
export interface ToolRunner {
  run(
    tool: Tool,
    argumentsText: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    traceparent?: string | undefined,
  ): Promise<ToolOutcome>;
}

export function createToolRunner({ client, templates, tracing = noopTracer }: ToolRunnerDeps): ToolRunner {
  const validators = new WeakMap<object, ValidateFunction | null>();
  return {
    async run(tool, argumentsText, variables, signal, traceparent) {
      const parsed = parseArguments(argumentsText);
      if (!parsed) return failure('The arguments are not a JSON object');
      const objection = checkArguments(validators, tool, parsed);
      if (objection) return failure(`The arguments do not fit the tool: ${objection}`);
      const span = tracing.startSpan(`execute_tool ${tool.name}`, {
        kind: 'client',
        parent: traceparent,
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool.name },
      });
      try {
        const request = toRequest(tool, parsed, variables, templates);
        const headers = withTraceparent(request.headers, span.traceparent);
        const answer = await client.request({ ...request, headers, signal });
        span.setAttributes({ 'http.response.status_code': answer.status });
        const text = responseText(answer).slice(0, MAX_RESULT_CHARACTERS);
        const ok = answer.status >= 200 && answer.status < 300;
        const value = parseValue(text);
        const { status, durationMs } = answer;
        return {
          ok,
          text: ok ? text : `HTTP ${status}: ${text}`,
          status,
          durationMs,
          ...(value === undefined ? {} : { value }),
        };
      } catch (error) {
        if (signal.aborted) throw error;
        span.recordError(error);
        return failure(error instanceof Error ? error.message : 'The tool failed');
      } finally {
        span.end();
      }
    },
  };
}

function toRequest(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  variables: Readonly<Record<string, unknown>>,
  cache: TemplateCache,
) {
  const { method, headers, timeoutMs, bodyTemplate } = tool.http;
  // An argument of the model cannot pose as a fact of the session.
  const values = { ...variables, ...args, ...factsIn(variables) };
  const url = new URL(renderTemplate(tool.http.url, values, { cache, target: 'url' }));
  const request = { method, headers: [...headers], timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES };
  if (method === 'GET' || method === 'DELETE') {
    // Arguments that the URL template does not use go into the query.
    for (const [key, value] of Object.entries(args)) {
      if (!tool.http.url.includes(key) && value !== null) {
        url.searchParams.set(key, isScalar(value) ? String(value) : JSON.stringify(value));
      }
    }
    return { ...request, url: url.href };
  }
  const body =
    bodyTemplate === undefined
      ? JSON.stringify(args)
      : renderTemplate(bodyTemplate, values, { cache, target: 'json' });
  const isTyped = headers.some(({ key }) => key.toLowerCase() === 'content-type');
  if (!isTyped) request.headers.push({ key: 'content-type', value: 'application/json' });
  return { ...request, url: url.href, body };
}

function factsIn(variables: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => RESERVED_VARIABLES.includes(name)));
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function checkArguments(
  validators: WeakMap<object, ValidateFunction | null>,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  let validate = validators.get(tool.parameters);
  if (validate === undefined) {
    validate = compile(tool.parameters);
    validators.set(tool.parameters, validate);
  }
  if (!validate || validate(args)) return undefined;
  const [first] = validate.errors ?? [];
  return `${first?.instancePath || 'the object'} ${first?.message ?? 'is not right'}`;
}

function compile({
  $schema: _dialect,
  ...schema
}: Readonly<Record<string, unknown>>): ValidateFunction | null {
  try {
    return new Ajv2020({
      strict: false,
      validateFormats: false,
      logger: false,
      addUsedSchema: false,
    }).compile(schema);
  } catch {
    // It was checked when it was saved; a schema that this version of the validator rejects does not fail the call.
    return null;
  }
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
