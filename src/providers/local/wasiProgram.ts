/** Numbers of WASI's errors. @see WASI preview 1, `errno` */
const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const INVALID = 28;

const ROOT = 3;
const FIRST_FILE = 4;
const DIRECTORY_TYPE = 3;
const FILE_TYPE = 4;

/** More than any speech of one text; a program that runs wild ends here. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** What is used of the global `WebAssembly`, which the types of Node 20 leave out. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: ProgramExports };
}
interface ProgramExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  _start(): void;
}

const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;

/** A compiled program; to be run as often as one likes. */
export interface WasiProgram {
  readonly module: object;
}

/** @throws {Error} A `CompileError` when the bytes are no WebAssembly. */
export function compileWasiProgram(bytes: Uint8Array): WasiProgram {
  return { module: new webAssembly.Module(bytes) };
}

export interface ProgramResult {
  readonly exitCode: number;
  /** What it wrote, by the path that it opened. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Of standard output and standard error together. */
  readonly output: string;
}

/**
 * Runs a command-line program that was compiled to WASI, with files in memory and nothing else of the system: it sees
 * its arguments, a clock and an empty folder `/`. Takes as long as the program does.
 *
 * The few calls that such a program makes are answered here, as Node's own `node:wasi` is experimental, works on real
 * folders, and in Node 20 crashes the process when many programs run one after the other.
 *
 * @throws {Error} A `RuntimeError` when the program traps, a `LinkError` when it wants more than there is.
 * @see https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md
 */
export function runWasiProgram(program: WasiProgram, args: readonly string[]): ProgramResult {
  const files = new Map<string, MemoryFile>();
  const open: MemoryFile[] = [];
  const output = createMemoryFile();
  const encoded = args.map((arg) => Buffer.from(`${arg}\0`));
  let memory: { readonly buffer: ArrayBuffer } | undefined;
  const view = () => new DataView(memory?.buffer ?? new ArrayBuffer(0));
  const bytes = (at: number, length: number) =>
    new Uint8Array(memory?.buffer ?? new ArrayBuffer(0), at, length);
  const fileOf = (fd: number) => (fd === 1 || fd === 2 ? output : open[fd - FIRST_FILE]);

  const calls = {
    args_sizes_get(countAt: number, sizeAt: number) {
      view().setUint32(countAt, encoded.length, true);
      view().setUint32(
        sizeAt,
        encoded.reduce((sum, arg) => sum + arg.length, 0),
        true,
      );
      return SUCCESS;
    },
    args_get(pointersAt: number, textAt: number) {
      let at = textAt;
      for (const [index, arg] of encoded.entries()) {
        view().setUint32(pointersAt + 4 * index, at, true);
        bytes(at, arg.length).set(arg);
        at += arg.length;
      }
      return SUCCESS;
    },
    clock_time_get(_clock: number, _precision: bigint, timeAt: number) {
      view().setBigUint64(timeAt, BigInt(Math.round(performance.now() * 1e6)), true);
      return SUCCESS;
    },
    fd_close: () => SUCCESS,
    fd_fdstat_get(fd: number, statAt: number) {
      if (fd !== ROOT && fd !== 0 && !fileOf(fd)) return BAD_DESCRIPTOR;
      bytes(statAt, 24).fill(0);
      view().setUint8(statAt, fd === ROOT ? DIRECTORY_TYPE : FILE_TYPE);
      // All rights, of the descriptor and of what is opened by it.
      view().setBigUint64(statAt + 8, ~0n, true);
      view().setBigUint64(statAt + 16, ~0n, true);
      return SUCCESS;
    },
    fd_fdstat_set_flags: () => SUCCESS,
    fd_prestat_get(fd: number, statAt: number) {
      if (fd !== ROOT) return BAD_DESCRIPTOR;
      view().setUint32(statAt, 0, true);
      view().setUint32(statAt + 4, 1, true);
      return SUCCESS;
    },
    fd_prestat_dir_name(fd: number, nameAt: number) {
      if (fd !== ROOT) return BAD_DESCRIPTOR;
      view().setUint8(nameAt, '/'.charCodeAt(0));
      return SUCCESS;
    },
    path_open(
      _folder: number,
      _lookup: number,
      pathAt: number,
      pathLength: number,
      _how: number,
      _rights: bigint,
      _inheriting: bigint,
      _flags: number,
      fdAt: number,
    ) {
      const path = Buffer.from(bytes(pathAt, pathLength)).toString();
      const file = files.get(path) ?? createMemoryFile();
      files.set(path, file);
      view().setUint32(fdAt, FIRST_FILE + open.push(file) - 1, true);
      return SUCCESS;
    },
    fd_read(_fd: number, _vectors: number, _count: number, readAt: number) {
      view().setUint32(readAt, 0, true);
      return SUCCESS;
    },
    fd_seek(fd: number, offset: bigint, whence: number, positionAt: number) {
      const position = fileOf(fd)?.seek(Number(offset), whence);
      if (position === undefined) return INVALID;
      view().setBigUint64(positionAt, BigInt(position), true);
      return SUCCESS;
    },
    fd_write(fd: number, vectors: number, count: number, writtenAt: number) {
      const file = fileOf(fd);
      if (!file) return BAD_DESCRIPTOR;
      let written = 0;
      for (let n = 0; n < count; n++) {
        const length = view().getUint32(vectors + 8 * n + 4, true);
        file.write(bytes(view().getUint32(vectors + 8 * n, true), length));
        written += length;
      }
      view().setUint32(writtenAt, written, true);
      return SUCCESS;
    },
    proc_exit(code: number) {
      throw new ProgramExit(code);
    },
  };

  const instance = new webAssembly.Instance(program.module, { wasi_snapshot_preview1: calls });
  ({ memory } = instance.exports);
  let exitCode = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error;
    exitCode = error.code;
  }
  return {
    exitCode,
    files: new Map([...files].map(([path, file]) => [path, file.content()])),
    output: Buffer.from(output.content()).toString(),
  };
}

class ProgramExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`the program ended with code ${code}`);
    this.code = code;
  }
}

interface MemoryFile {
  write(bytes: Uint8Array): void;
  /** @param whence - 0 from the begin, 1 from here, 2 from the end. @returns Undefined for a place before the begin. */
  seek(offset: number, whence: number): number | undefined;
  content(): Uint8Array;
}

function createMemoryFile(): MemoryFile {
  let buffer = new Uint8Array(65_536);
  let length = 0;
  let position = 0;
  return {
    write(bytes) {
      const end = position + bytes.length;
      if (end > MAX_FILE_BYTES) throw new RangeError('the program writes without end');
      if (end > buffer.length) {
        const larger = new Uint8Array(Math.max(end, 2 * buffer.length));
        larger.set(buffer.subarray(0, length));
        buffer = larger;
      }
      buffer.set(bytes, position);
      position = end;
      length = Math.max(length, end);
    },
    seek(offset, whence) {
      const from = whence === 0 ? 0 : whence === 1 ? position : length;
      if (from + offset < 0) return undefined;
      position = from + offset;
      return position;
    },
    content: () => buffer.subarray(0, length),
  };
}
