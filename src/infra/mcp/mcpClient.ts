import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import type { ForeignTool, McpTarget, McpToolResult, McpTools } from '../../agents/mcp/mcpTools.ts';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type GuardedHttpClient, startDeadline } from '../../http/client.ts';
import { createGuardedFetch, type GuardedFetch } from '../../http/fetch.ts';
import { withTraceparent } from '../../http/headers.ts';

/** The largest response: a page of a list, or a tool's result. */
const MAX_RESPONSE_BYTES = 1_048_576;
const MAX_PAGES = 20;
const MAX_REASON_CHARACTERS = 300;
const CLIENT = { name: 'callway', version: '1' };
/** Schemas of a server are compiled in the sandbox alone. */
const NO_SCHEMAS: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'schemas are not checked here' }),
};

/** Tolerant: parts that later versions of the protocol add are left out, not refused. */
const toolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const callResult = z.looseObject({
  content: z
    .array(
      z.looseObject({
        type: z.string(),
        text: z.string().optional(),
        resource: z.looseObject({ text: z.string().optional() }).optional(),
      }),
    )
    .default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
type CallResult = z.output<typeof callResult>;

export interface McpClientDeps {
  readonly client: GuardedHttpClient;
  readonly clock: Clock;
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

/** MCP over streamable HTTP, through the guarded HTTP client. */
export function createMcpTools(deps: McpClientDeps): McpTools {
  return {
    list: (target, limit, signal) =>
      inSession(deps, target, signal, (client, options) => listTools(client, options, limit)),
    call: ({ headers, ...target }, { name, args, signal, traceparent }) =>
      inSession(
        deps,
        { ...target, headers: [...withTraceparent(headers, traceparent)] },
        signal,
        async (client, options) => {
          const params = { name, arguments: { ...args } };
          return toResult(await client.request({ method: 'tools/call', params }, callResult, options));
        },
      ),
  };
}

/** Lists the server's tools. The SDK's `listTools` would compile the schemas that the server sends. */
async function listTools(client: Client, options: RequestOptions, limit: number): Promise<ForeignTool[]> {
  const tools: ForeignTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length < limit; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, toolPage, options);
    tools.push(...answer.tools.slice(0, limit - tools.length));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}

/** Connects, does the work and closes, all within the target's time. */
async function inSession<Result>(
  { client: http, clock }: McpClientDeps,
  { url, headers, timeoutMs }: McpTarget,
  signal: AbortSignal,
  work: (client: Client, options: RequestOptions) => Promise<Result>,
): Promise<Result> {
  const deadline = startDeadline({ clock, timeoutMs, signal });
  const limits = { timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, signal: deadline.signal };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: withoutStandingStream(createGuardedFetch(http, limits)),
    requestInit: { headers: headers.map(({ key, value }): [string, string] => [key, value]) },
  });
  const client = new Client(CLIENT, { capabilities: {}, jsonSchemaValidator: NO_SCHEMAS });
  const options = { signal: deadline.signal, timeout: timeoutMs };
  try {
    return await unlessAborted(
      // The SDK's own transport type lacks `undefined` for its optional session id.
      client
        .connect(transport as Parameters<Client['connect']>[0], options)
        .then(() => work(client, options)),
      deadline.signal,
    );
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : toCallwayError(error);
  } finally {
    deadline.end();
    // The result does not wait for the end of the session, which the server may refuse.
    const close = () => client.close();
    transport.terminateSession().then(close, close);
  }
}

/** Disables the stream of messages between requests. Only an interrupted response is continued by GET. */
function withoutStandingStream(fetch: GuardedFetch): GuardedFetch {
  return async (url, init) => {
    const isStanding = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id');
    return isStanding ? new Response(null, { status: 405 }) : await fetch(url, init);
  };
}

function toResult({ content, structuredContent, isError = false }: CallResult): McpToolResult {
  const words = content.map(({ type, text, resource }) => text ?? resource?.text ?? `[${type} left out]`);
  const isStructured = typeof structuredContent === 'object' && structuredContent !== null;
  const text = words.length > 0 || !isStructured ? words.join('\n') : JSON.stringify(structuredContent);
  const value = isStructured ? structuredContent : parseJson(text);
  return { ok: !isError, text, value };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function toCallwayError(error: unknown): CallwayError {
  if (error instanceof CallwayError) return error;
  const reason = reasonOf(error);
  const message = `The MCP server failed: ${reason.slice(0, MAX_REASON_CHARACTERS)}`;
  return new CallwayError('unavailable', 'mcp_failed', message, { cause: error });
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'its answer does not follow the protocol';
  if (error instanceof StreamableHTTPError) return `HTTP ${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
