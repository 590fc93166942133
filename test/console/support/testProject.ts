import type { ConsoleService } from './consoleService.ts';

/** A project of one page's tests, with a key of its own. */
export interface TestProject {
  readonly id: string;
  readonly key: string;
  /** Sends a request with the key. @param route - Below the project. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  send(method: string, route: string, body?: unknown): Promise<any>;
  /** A whole chat with the agent. @param said - By the person. */
  talk(sessionId: string, ...said: readonly string[]): Promise<void>;
}

export async function createProject(own: ConsoleService, name: string): Promise<TestProject> {
  const { id } = await own.send('POST', '/v1/projects', { name });
  const path = `/v1/projects/${id}`;
  const { key } = await own.send('POST', `${path}/api-keys`, { name: 'test', kind: 'secret' });
  const send: TestProject['send'] = (method, route, body) => own.send(method, path + route, body, key);
  return {
    id,
    key,
    send,
    async talk(sessionId, ...said) {
      for (const content of said) {
        const messages = [{ role: 'user', content }];
        await send('POST', '/chat/completions', { session_id: sessionId, messages, stream: false });
      }
      await send('POST', '/sessions/terminate', { session_id: sessionId });
    },
  };
}
