import { MemoryFile } from './memoryFile.ts';

/** Error numbers. @see WASI preview 1, `errno` */
const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const INVALID = 28;

const ROOT_FOLDER = 3;
const FIRST_FILE = 4;
const DIRECTORY_TYPE = 3;
const FILE_TYPE = 4;
const FDSTAT_BYTES = 24;
const ALL_RIGHTS = ~0n;

/** The part of the global `WebAssembly` that is used here, which the types of Node 20 lack. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: ProgramExports };
}
interface ProgramExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  _start(): void;
}

const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;

/** A compiled program, to be run any number of times. */
export interface WasiProgram {
  readonly module: object;
}

/** @throws {Error} A `CompileError` when the bytes are not WebAssembly. */
export function compileWasiProgram(bytes: Uint8Array): WasiProgram {
  return { module: new webAssembly.Module(bytes) };
}

export interface ProgramResult {
  readonly exitCode: number;
  /** Files that the program wrote, by path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Standard output and standard error, interleaved. */
  readonly output: string;
}

/**
 * Runs a WASI command-line program synchronously, with files in memory. It sees its arguments, a clock and an empty
 * folder `/`, and nothing else of the system.
 *
 * Only the system calls that such a program makes are implemented. `node:wasi` is experimental, needs real folders, and
 * in Node 20 crashes the process when many programs run one after the other.
 *
 * @throws {Error} A `RuntimeError` when the program traps, a `LinkError` when it needs another system call.
 * @see https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md
 */
export function runWasiProgram(program: WasiProgram, args: readonly string[]): ProgramResult {
  const memory = new ProgramMemory();
  const files = new FileTable();
  const imports = {
    ...argumentCalls(memory, args),
    ...descriptorCalls(memory, files),
    ...fileCalls(memory, files),
    clock_time_get(_clock: number, _precision: bigint, timePointer: number) {
      memory.view().setBigUint64(timePointer, BigInt(Math.round(performance.now() * 1e6)), true);
      return SUCCESS;
    },
    proc_exit(code: number) {
      throw new ProgramExit(code);
    },
  };
  const instance = new webAssembly.Instance(program.module, { wasi_snapshot_preview1: imports });
  memory.exported = instance.exports.memory;
  let exitCode = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error;
    exitCode = error.code;
  }
  return {
    exitCode,
    files: new Map([...files.byPath].map(([path, file]) => [path, file.content()])),
    output: Buffer.from(files.output.content()).toString(),
  };
}

/** Unwinds the program's stack. */
class ProgramExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`the program exited with code ${code}`);
    this.code = code;
  }
}

/** The program's memory, whose buffer is replaced whenever it grows. */
class ProgramMemory {
  exported: { readonly buffer: ArrayBuffer } = { buffer: new ArrayBuffer(0) };

  view(): DataView {
    return new DataView(this.exported.buffer);
  }

  bytes(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.exported.buffer, pointer, length);
  }
}

class FileTable {
  readonly output = new MemoryFile();
  readonly byPath = new Map<string, MemoryFile>();
  readonly #open: MemoryFile[] = [];

  /** @returns The file's descriptor. */
  open(path: string): number {
    const file = this.byPath.get(path) ?? new MemoryFile();
    this.byPath.set(path, file);
    return FIRST_FILE + this.#open.push(file) - 1;
  }

  get(descriptor: number): MemoryFile | undefined {
    return descriptor === 1 || descriptor === 2 ? this.output : this.#open[descriptor - FIRST_FILE];
  }
}

function argumentCalls(memory: ProgramMemory, args: readonly string[]) {
  const encoded = args.map((arg) => Buffer.from(`${arg}\0`));
  return {
    args_sizes_get(countPointer: number, sizePointer: number) {
      memory.view().setUint32(countPointer, encoded.length, true);
      memory.view().setUint32(sizePointer, Buffer.concat(encoded).length, true);
      return SUCCESS;
    },
    args_get(pointersPointer: number, textPointer: number) {
      let pointer = textPointer;
      for (const [index, arg] of encoded.entries()) {
        memory.view().setUint32(pointersPointer + 4 * index, pointer, true);
        memory.bytes(pointer, arg.length).set(arg);
        pointer += arg.length;
      }
      return SUCCESS;
    },
  };
}

function descriptorCalls(memory: ProgramMemory, files: FileTable) {
  return {
    fd_close: () => SUCCESS,
    fd_fdstat_get(descriptor: number, statPointer: number) {
      const isRoot = descriptor === ROOT_FOLDER;
      if (!isRoot && descriptor !== 0 && !files.get(descriptor)) return BAD_DESCRIPTOR;
      memory.bytes(statPointer, FDSTAT_BYTES).fill(0);
      memory.view().setUint8(statPointer, isRoot ? DIRECTORY_TYPE : FILE_TYPE);
      memory.view().setBigUint64(statPointer + 8, ALL_RIGHTS, true);
      memory.view().setBigUint64(statPointer + 16, ALL_RIGHTS, true);
      return SUCCESS;
    },
    fd_fdstat_set_flags: () => SUCCESS,
    fd_prestat_get(descriptor: number, statPointer: number) {
      if (descriptor !== ROOT_FOLDER) return BAD_DESCRIPTOR;
      memory.view().setUint32(statPointer, 0, true);
      memory.view().setUint32(statPointer + 4, 1, true);
      return SUCCESS;
    },
    fd_prestat_dir_name(descriptor: number, namePointer: number) {
      if (descriptor !== ROOT_FOLDER) return BAD_DESCRIPTOR;
      memory.view().setUint8(namePointer, '/'.charCodeAt(0));
      return SUCCESS;
    },
  };
}

function fileCalls(memory: ProgramMemory, files: FileTable) {
  return {
    path_open(
      _folder: number,
      _lookupFlags: number,
      pathPointer: number,
      pathLength: number,
      _openFlags: number,
      _rights: bigint,
      _inheritedRights: bigint,
      _descriptorFlags: number,
      descriptorPointer: number,
    ) {
      const path = Buffer.from(memory.bytes(pathPointer, pathLength)).toString();
      memory.view().setUint32(descriptorPointer, files.open(path), true);
      return SUCCESS;
    },
    /** Every file and standard input read as empty. */
    fd_read(_descriptor: number, _vectors: number, _count: number, readPointer: number) {
      memory.view().setUint32(readPointer, 0, true);
      return SUCCESS;
    },
    fd_seek(descriptor: number, offset: bigint, whence: number, positionPointer: number) {
      const position = files.get(descriptor)?.seek(Number(offset), whence);
      if (position === undefined) return INVALID;
      memory.view().setBigUint64(positionPointer, BigInt(position), true);
      return SUCCESS;
    },
    fd_write(descriptor: number, vectors: number, count: number, writtenPointer: number) {
      const file = files.get(descriptor);
      if (!file) return BAD_DESCRIPTOR;
      const view = memory.view();
      let writtenBytes = 0;
      for (let vector = vectors; vector < vectors + 8 * count; vector += 8) {
        const lengthBytes = view.getUint32(vector + 4, true);
        file.write(memory.bytes(view.getUint32(vector, true), lengthBytes));
        writtenBytes += lengthBytes;
      }
      view.setUint32(writtenPointer, writtenBytes, true);
      return SUCCESS;
    },
  };
}
