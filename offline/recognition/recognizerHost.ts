import type { ChildProcess } from 'node:child_process';

/** Starts a process from a TypeScript module of this library, or from what a build makes of it, with a channel. */
export type StartProcess = (module: URL) => ChildProcess;

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  /** The scheduling priority, no higher than that of the thread that starts the host. */
  readonly priority: number;
}

/** An order to the host; `id` names the program. */
export type HostOrder =
  | (Program & { readonly id: number; readonly kind: 'start' })
  | { readonly id: number; readonly kind: 'write'; readonly samples: Int16Array }
  | { readonly id: number; readonly kind: 'end' }
  | { readonly id: number; readonly kind: 'kill' };

/** The host's message when a program has ended. */
export interface ProgramEnd {
  readonly id: number;
  /** The exit code; null when the program was killed or could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  /** The last of it, or why it could not be started. */
  readonly stderr: string;
}

export interface HostedProgram {
  readonly ended: Promise<ProgramEnd>;
  write(samples: Int16Array): void;
  /** Ends the program's standard input. */
  end(): void;
  kill(): void;
}

interface Host {
  readonly child: ChildProcess;
  /** Running programs, with what their end resolves. */
  readonly programs: Map<number, (end: ProgramEnd) => void>;
}

/**
 * Starts programs from a small process of its own. A process that starts another is stopped while its page tables are
 * copied, with all its threads, for 50 ms a gigabyte of memory: that must not be the service, whose calls would hear it.
 *
 * @see fork(2)
 */
export class RecognizerHost {
  readonly #startProcess: StartProcess;
  #host: Host | undefined;
  #lastId = 0;

  constructor(startProcess: StartProcess) {
    this.#startProcess = startProcess;
  }

  start(program: Program): HostedProgram {
    this.#lastId += 1;
    const id = this.#lastId;
    const { child, programs } = this.#connect();
    // What is sent to a host that has just ended is lost; its exit ends its programs.
    const send = (order: HostOrder) => void child.send(order, () => undefined);
    const ended = new Promise<ProgramEnd>((resolve) => programs.set(id, resolve));
    send({ id, kind: 'start', ...program });
    return {
      ended,
      write: (samples) => send({ id, kind: 'write', samples }),
      end: () => send({ id, kind: 'end' }),
      kill: () => send({ id, kind: 'kill' }),
    };
  }

  /** Ends the host, which kills its programs. Idempotent. */
  close(): void {
    if (this.#host?.child.connected) this.#host.child.disconnect();
  }

  #connect(): Host {
    if (this.#host?.child.connected) return this.#host;
    const child = this.#startProcess(new URL('./recognizerHostProcess.ts', import.meta.url));
    const programs: Host['programs'] = new Map();
    const end = (program: ProgramEnd) => {
      programs.get(program.id)?.(program);
      programs.delete(program.id);
    };
    const endAll = (stderr: string) => {
      for (const id of programs.keys()) end({ id, code: null, stdout: '', stderr });
    };
    child.on('message', end);
    child.on('error', (error) => {
      if (this.#host?.child === child) this.#host = undefined;
      endAll(`the recognizers' host cannot be started: ${error.message}`);
    });
    child.once('exit', (code, signal) => endAll(`the recognizers' host exited with ${code ?? signal}`));
    this.#host = { child, programs };
    return this.#host;
  }
}
