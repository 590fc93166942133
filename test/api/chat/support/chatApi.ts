import { afterAll, beforeAll, beforeEach } from 'vitest';
import { PROJECT_ID, startTestServer, type TestServer } from '../../../support/httpServer.ts';
import { detectLeaks } from '../../../support/leaks.ts';

export const LEGACY = `/project/${PROJECT_ID}/chat/completions`;
export const V1 = `/v1/projects/${PROJECT_ID}/chat/completions`;

export const user = (content: unknown) => ({ role: 'user', content });
export const WEATHER = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: {} } },
};

/** The API on a socket of its own for the tests of a file, which must leave nothing behind. */
export function useChatApi() {
  let assertNoLeaks: () => Promise<void>;
  let server: TestServer;
  beforeAll(async () => {
    assertNoLeaks = detectLeaks();
    server = await startTestServer();
  });
  afterAll(async () => {
    await server.close();
    await assertNoLeaks();
  });
  beforeEach(() => {
    server.conversations.forget();
    server.project.reportUsage = false;
    server.logLines.length = 0;
  });
  return {
    get server() {
      return server;
    },
    ask: (body: object, more: { headers?: Record<string, string>; key?: string; path?: string } = {}) =>
      server.send('POST', more.path ?? V1, { body, ...more }),
  };
}

/** The events of a stream, and whether it ended with [DONE]. */
export function events(text: string) {
  const data = text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
  const isDone = data.at(-1) === '[DONE]';
  // biome-ignore lint/suspicious/noExplicitAny: responses have every shape
  return { chunks: data.filter((one) => one !== '[DONE]').map((one): any => JSON.parse(one)), isDone };
}
