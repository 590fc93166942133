import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startKamailio } from '../../test/sip/support/kamailio.ts';
import type { ServerReport } from './server.ts';

/** A server that answers calls, and the processes that it costs. */
export interface Contender {
  readonly title: string;
  readonly port: number;
  /** CPU seconds since its start: of the server, and of what decides for it elsewhere. */
  cpuSeconds(): { readonly server: number; readonly application: number };
  close(): Promise<void>;
}

export interface OwnServer extends Contender {
  /** After a collection of garbage. */
  report(): Promise<ServerReport>;
}

/** Clock ticks of /proc a second, as on every Linux that is built today. */
const TICKS_PER_SECOND = 100;

/** @param profiling - Arguments for the server's Node. */
export async function startOurs(profiling: readonly string[]): Promise<OwnServer> {
  const server = child('server.ts', [], ['--expose-gc', ...profiling]);
  const [ports] = (await once(server, 'message')) as [{ sipPort: number; controlPort: number }];
  const app = child('app.ts', [String(ports.controlPort)], []);
  await once(app, 'message');
  return {
    title: 'callway-sip',
    port: ports.sipPort,
    cpuSeconds: () => ({ server: cpuSecondsOf(server.pid ?? 0), application: cpuSecondsOf(app.pid ?? 0) }),
    async report() {
      server.send('report');
      const [report] = (await once(server, 'message')) as [ServerReport];
      return report;
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

/** Kamailio's transaction module answers; no dialog is kept, no application is asked. */
export async function startTheirs(): Promise<Contender> {
  const kamailio = await startKamailio('answerer');
  return {
    title: 'Kamailio (tm)',
    port: kamailio.port,
    cpuSeconds: () => ({ server: cpuSecondsOf(kamailio.pid), application: 0 }),
    close: () => kamailio.close(),
  };
}

function child(file: string, args: readonly string[], node: readonly string[]): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return fork(path, [...args], { execArgv: ['--import', 'tsx', ...node] });
}

/** Of a process and of all its children. */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold blanks; user and system time are fields 14 and 15 of all.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.reduce((sum, one) => sum + cpuSecondsOf(Number(one)), own);
}
