/** The parsers' host: starts a process for each document, passes its messages on, and kills it at its limits. */
import type { ChildProcess } from 'node:child_process';

import { putLast, startProcess, usageOf } from '../../base/threads/childProcess.ts';
import type {
  HostMessage,
  HostOrder,
  ParseLimits,
  ParseMessage,
  ParseRequest,
  ParserEnd,
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
  /** Wall-clock time in which it was not waiting for its chunks to be stored. */
  passedMs: number;
  isWaiting: boolean;
  end: ParserEnd | undefined;
}

const parsers = new Map<number, Parser>();

process.on('message', obey);
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);
process.once('disconnect', () => {
  for (const { child } of parsers.values()) child.kill('SIGKILL');
  process.exit();
});
// The service ended while this process was starting.
if (!process.connected) process.exit();
setInterval(() => {
  for (const [id, parser] of parsers) void check(id, parser);
}, CHECK_INTERVAL_MS);

function obey(order: HostOrder): void {
  const parser = parsers.get(order.id);
  switch (order.kind) {
    case 'start':
      start(order.id, order.request, order.limits);
      break;
    case 'goOn':
      if (parser) parser.isWaiting = false;
      parser?.child.send('goOn', () => undefined);
      break;
    case 'stop':
      parser?.child.kill('SIGKILL');
      break;
  }
}

function start(id: number, request: ParseRequest, limits: ParseLimits): void {
  const heapMb = Math.floor(limits.memoryMb * HEAP_SHARE);
  const child = startProcess(new URL('./parserProcess.ts', import.meta.url), { heapMb, isSilent: true });
  const parser: Parser = { child, limits, passedMs: 0, isWaiting: false, end: undefined };
  parsers.set(id, parser);
  putLast(child);
  child.on('message', (message: ParseMessage) => {
    if (message.kind === 'chunks') parser.isWaiting = true;
    tell({ id, ...message });
  });
  child.once('error', (error) => {
    parser.end = { kind: 'died', how: error.message };
  });
  child.once('close', (code, signal) => {
    parsers.delete(id);
    const isOut = code === ABORTED_CODE || OUT_OF_MEMORY_SIGNALS.includes(signal ?? '');
    const end: ParserEnd = isOut
      ? { kind: 'exceeded', limit: 'memoryMb' }
      : { kind: 'died', how: `exited with ${code ?? signal}` };
    tell({ id, ...(parser.end ?? end) });
  });
  child.send(request, () => undefined);
}

async function check(id: number, parser: Parser): Promise<void> {
  const { child, limits } = parser;
  if (!parser.isWaiting) parser.passedMs += CHECK_INTERVAL_MS;
  const usage = await usageOf(child);
  if (parser.end || !parsers.has(id)) return;
  const { cpuMs, memoryMb = 0 } = usage ?? {};
  const maxPassedMs = limits.timeMs * (cpuMs === undefined ? MAX_PASSED_FACTOR : MAX_STARVED_FACTOR);
  const isLate = (cpuMs ?? 0) > limits.timeMs || parser.passedMs > maxPassedMs;
  if (memoryMb > limits.memoryMb) parser.end = { kind: 'exceeded', limit: 'memoryMb' };
  else if (isLate) parser.end = { kind: 'exceeded', limit: 'timeMs' };
  if (parser.end) child.kill('SIGKILL');
}

/** A service that has just ended reads nothing; `disconnect` follows. */
function tell(message: HostMessage): void {
  process.send?.(message, undefined, undefined, () => undefined);
}
