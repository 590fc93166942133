import { startBareServer } from './bareServer.ts';
import { startMemoryServer } from './memoryServer.ts';

const servers = {
  bare: startBareServer,
  product: () => startMemoryServer('info'),
  quiet: () => startMemoryServer('silent'),
} as const;

export type ServerName = keyof typeof servers;

/** What the child says: its address once it listens, then its CPU time whenever it is asked. */
export type ChildMessage = { readonly url: string } | { readonly cpu: NodeJS.CpuUsage };

const say = (message: ChildMessage) => process.send?.(message);

process.on('message', () => {
  say({ cpu: process.cpuUsage() });
});
process.on('disconnect', () => process.exit());
say({ url: await servers[process.argv[2] as ServerName]() });
