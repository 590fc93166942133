/** The process of `recognizerHost.ts`: starts programs, passes audio to them, and reports how they end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { getPriority } from 'node:os';
import type { HostOrder, Program, ProgramEnd } from './recognizerHost.ts';

const MAX_STDERR_CHARACTERS = 2000;

const programs = new Map<number, ChildProcess>();

process.on('message', obey);
process.once('disconnect', () => {
  for (const program of programs.values()) killGroup(program);
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
      if (program) killGroup(program);
      break;
  }
}

/**
 * Starts a program on a pipe. A child's standard input is a socket in Node, which a program that opens `/dev/stdin` cannot
 * read; hence a shell with `cat` between them, in one process group. When this process dies, the pipe ends, and the
 * program with it.
 */
function start(id: number, { program, args, priority }: Program): ChildProcess {
  const pipeline = ['-n', `${priority - getPriority()}`, 'sh', '-c', 'cat | "$0" "$@"', program, ...args];
  const child = spawn('nice', pipeline, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
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

function killGroup(child: ChildProcess): void {
  child.stdin?.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has just ended.
  }
}
