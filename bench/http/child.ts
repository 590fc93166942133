import { startBareServer } from './bareServer.ts';
import { startProductServer } from './productServer.ts';
import { memoryStorage, openMeasured, storageIn } from './storages.ts';

/** What a child serves, as JSON in its first argument. */
export interface Server {
  /** `bare`, or ours at a log level. */
  readonly kind: 'bare' | 'info' | 'silent';
  /** None, the embedded one, or a server's address. */
  readonly database: 'none' | 'embedded' | `postgres${string}`;
  /** Folder of the migrations. */
  readonly migrations: string;
}

/** The child's messages: its address, then its CPU time on each request. */
export type ChildMessage = { readonly url: string } | { readonly cpu: NodeJS.CpuUsage };

const say = (message: ChildMessage) => process.send?.(message);

process.on('message', () => {
  say({ cpu: process.cpuUsage() });
});
process.on('disconnect', () => process.exit());
say({ url: await start(JSON.parse(process.argv[2] ?? '{}')) });

async function start({ kind, database: where, migrations }: Server): Promise<string> {
  const database =
    where === 'none' ? undefined : await openMeasured(where === 'embedded' ? undefined : where, migrations);
  if (kind === 'bare') return await startBareServer(database);
  return await startProductServer(kind, database ? storageIn(database) : memoryStorage());
}
