import { readChatStream } from './chatStream.ts';

/** What the service refused, by the code of its answer. */
export class RefusedError extends Error {
  readonly code: string;
  /** When to try again; of a limit. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, retryAfterSeconds: number | undefined) {
    super(code);
    this.name = 'RefusedError';
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The two routes that a widget's token opens, on one session. */
export class WidgetService {
  readonly #base: string;
  readonly #project: string;
  readonly #token: string;
  #sessionId: string | undefined;

  /** @param base - Origin of the service. */
  constructor(base: string, project: string, token: string) {
    this.#base = base;
    this.#project = project;
    this.#token = token;
  }

  /** The next words begin a new session. */
  forgetSession(): void {
    this.#sessionId = undefined;
  }

  /** @throws {RefusedError} */
  async chat(text: string, onText: (text: string) => void): Promise<void> {
    const messages = [{ role: 'user', content: text }];
    const response = await this.#post('chat/completions', (session_id) => ({
      messages,
      stream: true,
      session_id,
    }));
    const onSession = (sessionId: string) => {
      this.#sessionId = sessionId;
    };
    await readChatStream(response, { onSession, onText });
  }

  /** @returns The URL of a WebSocket. @throws {RefusedError} */
  async openStream(): Promise<string> {
    const response = await this.#post('media-streams', (sessionId) => ({ dialect: 'callway', sessionId }));
    const { url, sessionId } = (await response.json()) as { url: string; sessionId: string };
    this.#sessionId = sessionId;
    // At the address that this page reaches.
    const { pathname, search } = new URL(url);
    return this.#base.replace(/^http/, 'ws') + pathname + search;
  }

  /** A session that has ended meanwhile is followed by a new one. */
  async #post(route: string, bodyOf: (sessionId: string | undefined) => object): Promise<Response> {
    try {
      return await this.#request(route, bodyOf(this.#sessionId));
    } catch (error) {
      const isOver = error instanceof RefusedError && error.code === 'session_not_found';
      if (!isOver || this.#sessionId === undefined) throw error;
      this.forgetSession();
      return await this.#request(route, bodyOf(undefined));
    }
  }

  async #request(route: string, body: object): Promise<Response> {
    const path = `/v1/projects/${encodeURIComponent(this.#project)}/${route}`;
    const response = await fetch(this.#base + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    });
    if (response.ok) return response;
    const refused = (await response.json().catch(() => ({}))) as { code?: string; error?: { code?: string } };
    const retryAfter = response.headers.get('retry-after');
    throw new RefusedError(
      refused.code ?? refused.error?.code ?? 'unknown',
      retryAfter === null ? undefined : Number(retryAfter),
    );
  }
}
