import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';

import { Connection } from './connection.ts';
import type { FromThread, ThreadOptions } from './databaseThread.ts';
import { SharedSession } from './sharedSession.ts';

const LOOPBACK = '127.0.0.1';
/** The status with which PGlite's main loop exits after an SQL error. */
const SQL_ERROR_STATUS = 100;
/** The line of Postgres' log that says why it ends. */
const LAST_LINE = /(?:PANIC|FATAL): .*/;

const post = (message: FromThread): void => parentPort?.postMessage(message);

/** The thread of `databaseThread.ts`. An error that leaves this file ends it. */
async function run({ folder, snapshot, port, password }: ThreadOptions): Promise<void> {
  let lastLine: string | undefined;
  const database = await PGlite.create(folder, {
    extensions: { vector, pg_trgm, btree_gin },
    loadDataDir: existsSync(join(folder, 'PG_VERSION')) ? undefined : snapshot,
    onStderr(text) {
      lastLine = LAST_LINE.exec(text)?.[0] ?? lastLine;
      return false;
    },
  });
  const onFailure = (error: unknown): never => {
    post({ type: 'failed', reason: lastLine ?? String(error) });
    process.exit(1);
  };
  endOnFailure(database, onFailure);
  const session = new SharedSession<Connection>(async (messages) => {
    // PGlite's `execProtocolRaw` keeps every message that it has ever returned.
    const { data } = await database.execProtocol(messages, { throwOnError: false });
    return data;
  });
  const server = createServer((socket) => new Connection(socket, { session, password, onFailure }));
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  parentPort?.once('message', async () => {
    server.close();
    await database.close();
    process.exit();
  });
  post({ type: 'started', port: (server.address() as AddressInfo).port });
}

/**
 * Ends the thread after a failure that is no SQL error, such as a panic because the disk is full. PGlite would
 * otherwise call its main loop forever.
 */
function endOnFailure({ Module: engine }: PGlite, onFailure: (error: unknown) => never): void {
  const runOnce = engine._PostgresMainLoopOnce;
  engine._PostgresMainLoopOnce = () => {
    try {
      runOnce();
    } catch (error) {
      const isSqlError = error instanceof Object && 'status' in error && error.status === SQL_ERROR_STATUS;
      if (!isSqlError) onFailure(error);
      throw error;
    }
  };
}

await run(workerData as ThreadOptions);
