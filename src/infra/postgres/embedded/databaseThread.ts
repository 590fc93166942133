import { once } from 'node:events';

import { startThread } from '../../../base/threads/thread.ts';

export interface ThreadOptions {
  /** Data folder; `memory://` for a database in memory. */
  readonly folder: string;
  /** Data of a new database, as `PGlite.dumpDataDir` returns it. */
  readonly snapshot?: Blob;
  /** The loopback port; 0 for any. */
  readonly port: number;
  readonly password: string;
}

/** The messages of the thread. */
export type FromThread =
  | { readonly type: 'started'; readonly port: number }
  | { readonly type: 'failed'; readonly reason: string };

/** PGlite in a worker thread, behind the Postgres protocol on a loopback port. */
export interface DatabaseThread {
  readonly port: number;
  /** Resolves with the reason when the thread ends. */
  readonly ended: Promise<Error>;
  /** Ends all connections. Committed writes are in the data folder afterwards. */
  close(): Promise<void>;
}

/** @throws {Error} When the data cannot be opened or the port is in use. */
export async function startDatabaseThread(options: ThreadOptions): Promise<DatabaseThread> {
  const worker = startThread(new URL('./pgliteThread.ts', import.meta.url), {
    workerData: options,
    name: 'database',
  });
  const exited = once(worker, 'exit');
  exited.catch(() => undefined); // `error` is reported by `ended`
  let started: (port: number) => void = () => undefined;
  const port = new Promise<number>((resolve) => {
    started = resolve;
  });
  const ended = new Promise<Error>((resolve) => {
    worker.on('message', (message: FromThread) => {
      if (message.type === 'started') started(message.port);
      else resolve(new Error(message.reason));
    });
    worker.once('error', resolve);
    worker.once('exit', (code) => resolve(new Error(`the database thread ended with code ${code}`)));
  });
  return {
    port: await Promise.race([port, ended.then((error) => Promise.reject(error))]),
    ended,
    async close() {
      worker.postMessage('close');
      await exited.catch(() => undefined);
    },
  };
}
