import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startKamailio } from '../../test/sip/support/kamailio.ts';
import { reservePort } from '../../test/support/ports.ts';
import { startRedis } from '../../test/support/redis.ts';
import { startMeasuredPostgres } from '../http/postgres.ts';
import { nextMessage } from '../support/childMessage.ts';
import type { ServerReport } from './server.ts';

/** Seconds of CPU: used, and waited for. */
export interface Spent {
  readonly server: number;
  /** What a server process reports. */
  readonly application: number;
  /** Of the main threads of the server's processes. A high wait means a busy machine and long times. */
  readonly waited: number;
}

/** A server that answers calls, and its processes. */
export interface Contender {
  readonly title: string;
  readonly port: number;
  /** The SIP URI to call. */
  readonly user?: string;
  /** Since its start. */
  spent(): Spent;
  close(): Promise<void>;
}

export interface OwnServer extends Contender {
  /** After a garbage collection. */
  report(): Promise<ServerReport>;
}

/** Clock ticks of /proc per second, the same on every current Linux. */
const TICKS_PER_SECOND = 100;

/** @param profiling - Arguments for the server's Node. */
export async function startOurs(profiling: readonly string[]): Promise<OwnServer> {
  const server = child('server.ts', [], ['--expose-gc', ...profiling]);
  const ports = await nextMessage<{ sipPort: number; controlPort: number }>(server);
  const app = child('app.ts', [String(ports.controlPort)], []);
  await nextMessage(app);
  return {
    title: 'callway-sip',
    port: ports.sipPort,
    spent: () => ({
      server: sumOf(server.pid ?? 0, cpuSecondsOf),
      application: sumOf(app.pid ?? 0, cpuSecondsOf),
      waited: sumOf(server.pid ?? 0, waitedSecondsOf),
    }),
    report() {
      server.send('report');
      return nextMessage(server);
    },
    async close() {
      for (const one of [app, server]) {
        const exited = once(one, 'exit');
        one.send('close');
        await exited;
      }
    },
  };
}

/**
 * The whole product, which looks up trunk and number, stores call and session, takes a channel, opens the audio and then
 * answers.
 *
 * @returns Undefined when Postgres with pgvector, or Redis, is not installed.
 */
export async function startProduct(): Promise<Contender | undefined> {
  const [postgres, redis] = await Promise.all([startMeasuredPostgres(), startRedis().catch(() => undefined)]);
  const closeStores = () => Promise.all([postgres?.close(), redis?.close()]);
  if (!postgres || !redis) {
    await closeStores();
    return undefined;
  }
  const port = await reservePort();
  const product = child('product.ts', [String(port), postgres.url, redis.url, PRODUCT_NUMBER], []);
  await nextMessage(product);
  return {
    title: 'Callway, the whole product',
    port,
    user: PRODUCT_NUMBER,
    spent: () => ({
      server: sumOf(product.pid ?? 0, cpuSecondsOf),
      application: 0,
      waited: sumOf(product.pid ?? 0, waitedSecondsOf),
    }),
    async close() {
      const exited = once(product, 'exit');
      product.send('close');
      await exited;
      await closeStores();
    },
  };
}

const PRODUCT_NUMBER = '+886900000001';

/** Kamailio's transaction module answers; it keeps no dialog and asks no application. */
export async function startTheirs(): Promise<Contender> {
  const kamailio = await startKamailio('answerer');
  return {
    title: 'Kamailio (tm)',
    port: kamailio.port,
    spent: () => ({
      server: sumOf(kamailio.pid, cpuSecondsOf),
      application: 0,
      waited: sumOf(kamailio.pid, waitedSecondsOf),
    }),
    close: () => kamailio.close(),
  };
}

function child(file: string, args: readonly string[], node: readonly string[]): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return fork(path, [...args], { execArgv: ['--import', 'tsx', ...node] });
}

function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain spaces; user and system time are fields 14 and 15 of the whole line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function waitedSecondsOf(pid: number): number {
  const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(waitedNs) / 1e9;
}

/** Sums a process and its children. */
function sumOf(pid: number, secondsOf: (pid: number) => number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.reduce((sum, child) => sum + sumOf(Number(child), secondsOf), secondsOf(pid));
}
