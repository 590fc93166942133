import { randomBytes } from 'node:crypto';

import { sleep } from '../../../base/async/sleep.ts';
import { systemClock } from '../../../base/values/clock.ts';
import type { Database } from '../connection/database.ts';
import { openPostgres } from '../connection/postgres.ts';
import { type DatabaseThread, startDatabaseThread, type ThreadOptions } from './databaseThread.ts';

const PASSWORD_BYTES = 24;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 10_000;

export interface EmbeddedOptions extends Pick<ThreadOptions, 'folder' | 'snapshot'> {
  /** Called when the database has failed, and after each failed restart. Another attempt follows. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * PGlite, which is Postgres with pgvector, as a server for all threads of this process. It runs in a thread of its own,
 * and is restarted on the same address when it fails. Committed writes survive that, and a kill of the process. It does
 * not call fsync, so a power failure may lose the last ones.
 */
export class EmbeddedServer {
  /** The URL for {@link openPostgres}, with the password. */
  readonly url: string;
  readonly #options: ThreadOptions;
  readonly #onFailure: (error: unknown) => void;
  readonly #closing = new AbortController();
  readonly #closed: Promise<void>;

  private constructor(thread: DatabaseThread, options: ThreadOptions, onFailure: (error: unknown) => void) {
    this.url = `postgres://callway:${options.password}@127.0.0.1:${thread.port}/postgres`;
    this.#options = { ...options, port: thread.port };
    this.#onFailure = onFailure;
    this.#closed = this.#supervise(thread);
  }

  /** @throws {Error} When the data cannot be opened. */
  static async start({ folder, snapshot, onFailure }: EmbeddedOptions): Promise<EmbeddedServer> {
    const password = randomBytes(PASSWORD_BYTES).toString('base64url');
    const options = { folder, port: 0, password, snapshot };
    return new EmbeddedServer(await startDatabaseThread(options), options, onFailure ?? (() => undefined));
  }

  /** Ends all connections; close what uses them first. Idempotent. */
  close(): Promise<void> {
    this.#closing.abort();
    return this.#closed;
  }

  async #supervise(first: DatabaseThread): Promise<void> {
    const { signal } = this.#closing;
    const closing = new Promise<'closing'>((resolve) => {
      signal.addEventListener('abort', () => resolve('closing'), { once: true });
    });
    for (let thread: DatabaseThread | undefined = first; thread; thread = await this.#restart()) {
      const reason = await Promise.race([thread.ended, closing]);
      if (reason === 'closing') return await thread.close();
      this.#onFailure(reason);
    }
  }

  /** @returns Undefined when the server closes meanwhile. */
  async #restart(): Promise<DatabaseThread | undefined> {
    const { signal } = this.#closing;
    for (let delayMs = FIRST_RETRY_MS; !signal.aborted; delayMs = Math.min(2 * delayMs, MAX_RETRY_MS)) {
      try {
        return await startDatabaseThread(this.#options);
      } catch (error) {
        this.#onFailure(error);
      }
      await sleep(systemClock, delayMs, signal).catch(() => undefined);
    }
    return undefined;
  }
}

/** An embedded server with its only user. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const server = await EmbeddedServer.start(options);
  const database = openPostgres({ url: server.url, sharesSession: true, onIdleError: () => undefined });
  return {
    ...database,
    async close() {
      await database.close();
      await server.close();
    },
  };
}
