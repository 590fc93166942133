import { fork } from 'node:child_process';
import { once } from 'node:events';
import autocannon, { type Options } from 'autocannon';

import { nextMessage } from '../support/childMessage.ts';
import type { ChildMessage, Server } from './child.ts';
import { BODY, KEY, PROJECT_ID, ROUTE } from './route.ts';

/** CPU time of the serving process, in microseconds per request. */
export interface Cost {
  /** User mode. */
  readonly user: number;
  /** Kernel mode: mostly sockets. */
  readonly system: number;
}

export interface Contender {
  readonly title: string;
  /** Sends this many requests, and checks each answer. */
  round(requests: number): Promise<Cost>;
  close(): Promise<void>;
}

/** The same for all contenders, so that all are equally busy. */
export interface Load {
  readonly connections: number;
  readonly requestsPerSecond: number;
}

/** A server in a process of its own; its log is written and discarded. */
export async function startContender(
  program: string,
  title: string,
  server: Server,
  { connections, requestsPerSecond }: Load,
  execArgv: readonly string[],
): Promise<Contender> {
  const child = fork(program, [JSON.stringify(server)], {
    execArgv: [...execArgv],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const next = async <Key extends string>(key: Key) => {
    const message = await nextMessage<ChildMessage>(child);
    if (!(key in message))
      throw new Error(`the server said ${JSON.stringify(message)} instead of its ${key}`);
    return message as Extract<ChildMessage, Record<Key, unknown>>;
  };
  const cpu = async () => {
    child.send('cpu');
    return (await next('cpu')).cpu;
  };
  const { url } = await next('url');
  return {
    title,
    async round(requests) {
      const before = await cpu();
      // The package's types lack the rate over all connections.
      const options: Options & { readonly overallRate: number } = {
        url: url + ROUTE.replace(':projectId', PROJECT_ID),
        method: 'PATCH',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(BODY),
        connections,
        amount: requests,
        overallRate: requestsPerSecond,
      };
      const result = await whileBusyPolling(async () => await autocannon(options));
      if (result['2xx'] !== requests) throw new Error(`${title}: ${result['2xx']} of ${requests} succeeded`);
      const after = await cpu();
      return {
        user: (after.user - before.user) / requests,
        system: (after.system - before.system) / requests,
      };
    },
    async close() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/**
 * Runs a work, and never lets this process wait for an answer meanwhile: it would wait the more, the slower a server is,
 * and waking it, which takes a virtual machine longer than the answer, is counted as the server's CPU time.
 */
async function whileBusyPolling<Result>(work: () => Promise<Result>): Promise<Result> {
  let next: NodeJS.Immediate;
  const turn = () => {
    next = setImmediate(turn);
  };
  turn();
  return await work().finally(() => clearImmediate(next));
}
