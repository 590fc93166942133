import { startBareServer } from './bareServer.js';
import { startProductServer } from './productServer.js';
import { memoryStorage, openMeasured, storageIn } from './storages.js';

const say = (message) => process.send?.(message);
process.on('message', () => {
  say({ cpu: process.cpuUsage() });
});
process.on('disconnect', () => process.exit());
say({ url: await start(JSON.parse(process.argv[2] ?? '{}')) });
async function start({ kind, database: where, migrations }) {
  const database =
    where === 'none' ? undefined : await openMeasured(where === 'embedded' ? undefined : where, migrations);
  if (kind === 'bare') return await startBareServer(database);
  return await startProductServer(kind, database ? storageIn(database) : memoryStorage());
}
