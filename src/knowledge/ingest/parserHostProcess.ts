/** The parsers' host: starts a process for each file, passes its messages on, and kills it at its limits. */
import type { ChildProcess } from 'node:child_process';

import { portOf, putLast, startProcess, usageOf } from '../../base/threads/childProcess.ts';
import { remoteOf, serve } from '../../base/threads/remote.ts';
import type {
  HostEvents,
  HostMethods,
  ParseEnd,
  ParseLimits,
  ParserEvents,
  ParserMethods,
} from './parserMessages.ts';

const CHECK_INTERVAL_MS = 100;
/** The limit is of processor time: a parser comes after all else on the machine, and may be given little of it. */
const MAX_STARVED_FACTOR = 10;
/** The factor on systems that do not report a process's time. */
const MAX_PASSED_FACTOR = 1.5;
/** The share of the memory that V8's heap may use; the rest is for what is outside of it, such as the file. */
const HEAP_SHARE = 0.6;
/** A process that finds no memory in its heap, or for a large array, aborts. */
const OUT_OF_MEMORY_SIGNALS = ['SIGABRT', 'SIGTRAP', 'SIGILL'];
/** The code of a process that a shell or Node reports as aborted. */
const ABORTED_CODE = 134;

interface Parser {
  readonly child: ChildProcess;
  readonly limits: ParseLimits;
  /** Wall-clock time in which it was not waiting for its items to be stored. */
  passedMs: number;
  isWaiting: boolean;
  end: ParseEnd | undefined;
}

const parsers = new Map<number, Parser>();

const port = portOf(process);
const service = remoteOf<HostEvents>(port);
serve(port, { parse, stop: (id) => void parsers.get(id)?.child.kill('SIGKILL') } satisfies HostMethods);
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);
process.once('disconnect', () => {
  for (const { child } of parsers.values()) child.kill('SIGKILL');
  process.exit();
});
// The service ended while this process was starting.
if (!process.connected) process.exit();
setInterval(() => {
  for (const parser of parsers.values()) void check(parser);
}, CHECK_INTERVAL_MS);

async function parse(...[id, request, limits]: Parameters<HostMethods['parse']>): Promise<ParseEnd> {
  const heapMb = Math.floor(limits.memoryMb * HEAP_SHARE);
  const child = startProcess(new URL('./parserProcess.ts', import.meta.url), { heapMb, isSilent: true });
  const parser: Parser = { child, limits, passedMs: 0, isWaiting: false, end: undefined };
  parsers.set(id, parser);
  putLast(child);
  const childPort = portOf(child);
  serve(childPort, {
    async store(items) {
      parser.isWaiting = true;
      await service.call.store(id, items);
      parser.isWaiting = false;
    },
  } satisfies ParserEvents);
  const closed = new Promise<ParseEnd>((resolve) => {
    child.once('error', (error) => resolve({ kind: 'died', how: error.message }));
    child.once('close', (code, signal) => {
      const isOut = code === ABORTED_CODE || OUT_OF_MEMORY_SIGNALS.includes(signal ?? '');
      const end: ParseEnd = isOut
        ? { kind: 'exceeded', limit: 'memoryMb' }
        : { kind: 'died', how: `exited with ${code ?? signal}` };
      resolve(parser.end ?? end);
    });
  });
  try {
    return await Promise.race([remoteOf<ParserMethods>(childPort).call.parse(request), closed]);
  } finally {
    parsers.delete(id);
    child.kill('SIGKILL');
  }
}

async function check(parser: Parser): Promise<void> {
  const { child, limits } = parser;
  if (!parser.isWaiting) parser.passedMs += CHECK_INTERVAL_MS;
  const usage = await usageOf(child);
  if (parser.end) return;
  const { cpuMs, memoryMb = 0 } = usage ?? {};
  const maxPassedMs = limits.timeMs * (cpuMs === undefined ? MAX_PASSED_FACTOR : MAX_STARVED_FACTOR);
  const isLate = (cpuMs ?? 0) > limits.timeMs || parser.passedMs > maxPassedMs;
  if (memoryMb > limits.memoryMb) parser.end = { kind: 'exceeded', limit: 'memoryMb' };
  else if (isLate) parser.end = { kind: 'exceeded', limit: 'timeMs' };
  if (parser.end) child.kill('SIGKILL');
}
