import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { type ApiAnswer, startTestGateway, type TestGateway, type TestProject } from '../support/gateway.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';
import {
  calling,
  type RequestBody,
  type ScriptedUpstream,
  type Step,
  saying,
  startScriptedUpstream,
  usageChunk,
} from '../support/scriptedUpstream.ts';

/** A request that the project's own endpoint has received. */
interface Received {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A project on a gateway whose model, tools and webhooks are scripted. */
export interface ContractProject extends TestProject {
  call(method: string, path: string, body?: unknown): Promise<Pick<ApiAnswer, 'status' | 'body'>>;
  /** One message of a chat. @returns The answer's text. */
  chat(text: string, sessionId?: string): Promise<string>;
  /** The model's requests for this project, of one purpose. */
  asked(purpose: 'answer' | 'route' | 'extract' | 'judge' | 'analysis' | 'summary'): RequestBody[];
  history(sessionId: string): Promise<ApiAnswer['body']>;
}

/** What the model answers to the engine's own questions, and what it says. */
interface Script {
  say: string;
  /** A tool that the model calls before it says something. */
  tool?: { readonly name: string; readonly arguments: object } | undefined;
  route: string | null;
  extract: object;
  judge: object;
  /** What each answer reports; undefined for nothing. */
  usage?: { promptTokens: number; completionTokens: number; cachedTokens: number } | undefined;
}

export interface ContractRig {
  readonly script: Script;
  /** Base URL of the project's own endpoint. */
  readonly endpoint: string;
  readonly received: Received[];
  /** What the endpoint answers, and after how long. */
  reply: { status?: number; body: unknown; afterMs?: number };
  gateway(): TestGateway;
  project(): Promise<ContractProject>;
}

const FORMATS = { route: 'route', extract: 'extract', judge: 'judge', analysis: 'analysis' } as const;

/** Starts one gateway for all tests of a file. */
export function contractRig(): ContractRig {
  let upstream: ScriptedUpstream;
  let server: LoopbackServer;
  let gateway: TestGateway;
  const received: Received[] = [];
  const script: Script = { say: 'Hello.', route: null, extract: {}, judge: {} };
  const rig: ContractRig = {
    script,
    received,
    reply: { body: {} },
    get endpoint() {
      return `http://127.0.0.1:${server.port}`;
    },
    gateway: () => gateway,
    async project() {
      const project = await gateway.createProject();
      const seen = upstream.requests.length;
      const call: ContractProject['call'] = (method, path, body) =>
        gateway.api(method, `${project.path}${path}`, {
          key: project.developerKey,
          ...(body === undefined ? {} : { body }),
        });
      return {
        ...project,
        call,
        async chat(text, sessionId = 's') {
          const { status, body } = await gateway.api('POST', `${project.path}/chat/completions`, {
            key: project.secretKey,
            headers: { 'x-session-id': sessionId },
            body: { messages: [{ role: 'user', content: text }] },
          });
          if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
          return body.choices[0].message.content;
        },
        asked: (purpose) =>
          upstream.requests.slice(seen).flatMap(({ body }) => (purposeOf(body) === purpose ? [body] : [])),
        history: async (sessionId) => (await call('GET', `/session-history/${sessionId}`)).body,
      };
    },
  };
  beforeAll(async () => {
    upstream = await startScriptedUpstream((body) => ({
      steps: reporting(script, answer(script, body), body),
    }));
    server = await serveOnLoopback(async (request, response) => {
      const body = (await request.toArray()).join('');
      received.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      const { status = 200, body: answered, afterMs = 0 } = rig.reply;
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    });
    gateway = await startTestGateway({
      env: {
        OPENAI_BASE_URL: upstream.baseUrl,
        ALLOW_INSECURE_WEBHOOKS: 'true',
        CHAT_MODEL_SMART: 'm-smart',
        CHAT_MODEL_BALANCE: 'm-balance',
        CHAT_MODEL_TURBO: 'm-turbo',
      },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await Promise.all([upstream?.close(), server?.close()]);
  });
  return rig;
}

/** Everything that the model was told. */
export const promptOf = (body: RequestBody | undefined) => JSON.stringify(body?.messages ?? '');

function purposeOf(body: RequestBody) {
  const format = body.response_format as { json_schema?: { name?: string } } | undefined;
  const name = format?.json_schema?.name;
  if (name === undefined) return promptOf(body).includes('Summarise the conversation') ? 'summary' : 'answer';
  return FORMATS[name as keyof typeof FORMATS];
}

/** Adds the model and the usage that the endpoint reports, before the end of the answer. */
function reporting({ usage }: Script, steps: readonly Step[], { model }: RequestBody): readonly Step[] {
  if (!usage) return steps;
  const { promptTokens, completionTokens, cachedTokens } = usage;
  const { chunk } = usageChunk(promptTokens, completionTokens, cachedTokens);
  return [...steps.slice(0, -1), { chunk: { ...chunk, model } }, ...steps.slice(-1)];
}

function answer(script: Script, body: RequestBody) {
  const purpose = purposeOf(body);
  if (purpose === 'route') return saying(JSON.stringify({ edge: script.route }));
  if (purpose === 'extract') return saying(JSON.stringify(script.extract));
  if (purpose === 'judge' || purpose === 'analysis') return saying(JSON.stringify(script.judge));
  const messages = body.messages as readonly { role: string }[];
  if (script.tool && messages.at(-1)?.role !== 'tool')
    return calling(script.tool.name, JSON.stringify(script.tool.arguments));
  return saying(purpose === 'summary' ? 'Ann likes tea.' : script.say);
}
