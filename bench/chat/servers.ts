import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';

import { nextMessage } from '../support/childMessage.ts';
import type { ChildMessage, ChildQuestion, Figures, ServerName } from './child.ts';

/** A server in a process of its own, so that its CPU time and memory are its own. */
export interface Server {
  readonly name: ServerName;
  readonly url: string;
  cpuMicroseconds(): Promise<number>;
  figures(): Promise<Figures>;
  close(): Promise<void>;
}

export interface ServerOptions {
  /** As returned by `compileProgram`. */
  readonly program: string;
  /** The server that it sends its requests to. */
  readonly upstreamUrl?: string;
  /** Beside that of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Where it writes its CPU profile. */
  readonly profileFolder?: string;
}

export async function startServer(
  name: ServerName,
  { program, upstreamUrl = '', environment = {}, profileFolder }: ServerOptions,
): Promise<Server> {
  if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true });
  const profiling =
    profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}/${name}`];
  const child = fork(program, [name, upstreamUrl], {
    env: { ...process.env, ...environment },
    execArgv: ['--expose-gc', ...profiling],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ask = (question: ChildQuestion): Promise<Figures> => {
    child.send(question);
    return nextMessage(child);
  };
  const first = await nextMessage<ChildMessage>(child);
  if (!('url' in first)) throw new Error(`${name} did not say where it listens`);
  return {
    name,
    url: first.url,
    cpuMicroseconds: async () => (await ask('cpu')).cpuMicroseconds,
    figures: () => ask('figures'),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
