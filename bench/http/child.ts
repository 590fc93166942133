import { startBareServer } from './bareServer.ts';
import { startMemoryServer } from './memoryServer.ts';

const servers = {
  bare: startBareServer,
  product: () => startMemoryServer('info'),
  quiet: () => startMemoryServer('silent'),
} as const;

export type ServerName = keyof typeof servers;

/** What the child says: its address once it listens, then its CPU time whenever it is asked. */
export type ChildMessage = { readonly url: string } | { readonly cpuMicroseconds: number };

const say = (message: ChildMessage) => process.send?.(message);

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  say({ cpuMicroseconds: user + system });
});
process.on('disconnect', () => process.exit());
say({ url: await servers[process.argv[2] as ServerName]() });
