import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

import type { ChildMessage, ServerName } from './child.ts';
import { BODY, KEY, PROJECT_ID, ROUTE } from './route.ts';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

export interface Contender {
  readonly name: ServerName;
  /** Sends so many requests, and checks that each was answered well. @returns CPU microseconds a request. */
  round(requests: number): Promise<number>;
  close(): Promise<void>;
}

/** A server in a process of its own; its log goes nowhere, but is written. */
export async function startContender(
  name: ServerName,
  connections: number,
  execArgv: readonly string[],
): Promise<Contender> {
  const child = fork(CHILD, [name], {
    execArgv: ['--import', 'tsx', ...execArgv],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const next = async <Key extends string>(key: Key) => {
    const [message] = (await once(child, 'message')) as [ChildMessage];
    if (!(key in message))
      throw new Error(`the server said ${JSON.stringify(message)} instead of its ${key}`);
    return message as Extract<ChildMessage, Record<Key, unknown>>;
  };
  const cpuMicroseconds = async () => {
    child.send('cpu');
    return (await next('cpuMicroseconds')).cpuMicroseconds;
  };
  const { url } = await next('url');
  return {
    name,
    async round(requests) {
      const before = await cpuMicroseconds();
      const result = await autocannon({
        url: url + ROUTE.replace(':projectId', PROJECT_ID),
        method: 'PATCH',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(BODY),
        connections,
        amount: requests,
      });
      if (result['2xx'] !== requests) throw new Error(`${name}: ${result['2xx']} of ${requests} succeeded`);
      return ((await cpuMicroseconds()) - before) / requests;
    },
    async close() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
