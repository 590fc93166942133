import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js';
import { serveOnLoopback } from './loopbackServer.ts';

export interface TestMcpServer {
  readonly url: string;
  /** What it lists; may be changed. */
  tools: Tool[];
  /** What each call answers. */
  answer: (args: Readonly<Record<string, unknown>>) => object | Promise<object>;
  /** Tool calls so far. */
  readonly calls: { readonly name: string; readonly arguments: unknown }[];
  /** Of all requests. */
  readonly headers: IncomingHttpHeaders[];
  /** Sessions that were not ended. */
  sessions(): number;
  close(): Promise<void>;
}

/** A tool without parameters, or with these. */
export function toolNamed(name: string, properties: object = {}): Tool {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: 'object', properties: { ...properties } },
  };
}

/** A real MCP server over streamable HTTP, with sessions. */
export async function startMcpServer(): Promise<TestMcpServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: state.tools }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      state.calls.push({ name: params.name, arguments: params.arguments });
      return { content: [], ...(await state.answer(params.arguments ?? {})) };
    });
    await server.connect(transport as Parameters<Server['connect']>[0]);
    return transport;
  };
  const http = await serveOnLoopback(async (request, response) => {
    state.headers.push(request.headers);
    const id = request.headers['mcp-session-id'];
    const transport = (typeof id === 'string' ? sessions.get(id) : undefined) ?? (await open());
    await transport.handleRequest(request, response);
  });
  const state: TestMcpServer = {
    url: `http://127.0.0.1:${http.port}/mcp`,
    tools: [],
    answer: () => ({ content: [{ type: 'text', text: 'done' }] }),
    calls: [],
    headers: [],
    sessions: () => sessions.size,
    async close() {
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
      await http.close();
    },
  };
  return state;
}
