/** The process of `recognizerHost.ts`: starts programs, passes audio to them, and reports how they end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { getPriority } from 'node:os';
import type { HostOrder, Program, ProgramEnd } from './recognizerHost.ts';

const MAX_STDERR_CHARACTERS = 2000;

/**
 * Runs a program on a pipe: a child's standard input is a socket in Node, which a program that opens `/dev/stdin` cannot
 * read. `TERM` kills the program at once.
 */
const ON_A_PIPE = `
trap '' INT HUP
trap 'kill -9 $!; exit 137' TERM
exec 3<&0
cat <&3 | "$0" "$@" 3<&- &
wait $!`;

const programs = new Map<number, ChildProcess>();

process.on('message', obey);
// The service ends recognizers in order, as its last calls do: a terminal or a supervisor may signal all processes at once.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);
process.once('disconnect', () => {
  for (const program of programs.values()) kill(program);
  process.exit();
});

function obey(order: HostOrder): void {
  const program = programs.get(order.id);
  switch (order.kind) {
    case 'start':
      programs.set(order.id, start(order.id, order));
      break;
    case 'write': {
      const { buffer, byteOffset, byteLength } = order.samples;
      if (program?.stdin?.writable) program.stdin.write(Buffer.from(buffer, byteOffset, byteLength));
      break;
    }
    case 'end':
      program?.stdin?.end();
      break;
    case 'kill':
      if (program) kill(program);
      break;
  }
}

/**
 * Starts a program with its priority, in the process session of the service: Linux shares the processors between such
 * sessions first, and between the programs of one by their priorities.
 *
 * @see sched(7), "The autogroup feature"
 */
function start(id: number, { program, args, priority }: Program): ChildProcess {
  const pipeline = ['-n', `${priority - getPriority()}`, 'sh', '-c', ON_A_PIPE, program, ...args];
  const child = spawn('nice', pipeline, { stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
  });
  // A process that ends early breaks the pipe; its exit code says more.
  child.stdin.on('error', () => undefined);
  child.once('error', (error) => {
    stderr = error.message;
  });
  child.once('close', (code) => {
    programs.delete(id);
    const end: ProgramEnd = { id, code: child.pid === undefined ? null : code, stdout, stderr };
    process.send?.(end);
  });
  return child;
}

function kill(child: ChildProcess): void {
  child.stdin?.destroy();
  child.kill('SIGTERM');
}
