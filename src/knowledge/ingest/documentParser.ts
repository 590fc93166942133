import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';

import { portOf, startProcess } from '../../base/threads/childProcess.ts';
import { type Remote, remoteOf, serve } from '../../base/threads/remote.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { TextChunk } from '../chunking/chunker.ts';
import { DocumentError } from '../parse/block.ts';
import type {
  HostEvents,
  HostMethods,
  ParsedItem,
  ParseEnd,
  ParseLimits,
  ParseRequest,
  TableRequest,
  TableRow,
} from './parserMessages.ts';

/** Longer than any document takes that people wrote. */
const TIME_LIMIT_MS = 30_000;
const TIME_LIMIT_MS_PER_MIB = 1_000;
const BYTES_PER_MIB = 1_048_576;
/** Enough for the largest upload as a PDF, and for a table of the largest size. */
const MEMORY_LIMIT_MB = 640;
/** Documents often come one after another; an idle host takes 50 MB. */
const HOST_IDLE_MS = 10_000;
const TRIES = 2;

type StoreItems<Item> = (items: readonly Item[]) => Promise<void>;

export interface DocumentParserDeps {
  readonly clock: Clock;
  /** Replaced in tests. */
  readonly limits?: Partial<ParseLimits>;
}

/** Gets what is read of a file. */
interface Receiver<Item> {
  /** Drops the items that were stored: the file is read once more, since its process died. */
  restart(): Promise<void>;
  /** Stores items, in order; the parser waits for it. */
  store(items: readonly Item[]): Promise<void>;
}

interface Host {
  readonly child: ChildProcess;
  readonly remote: Remote<HostMethods>;
  /** Stores what running parsers read. */
  readonly stores: Map<number, StoreItems<ParsedItem>>;
}

/** The parser's process ended, and nothing says why. */
class ParserDiedError extends Error {}

/**
 * Parses files, each in a process of its own, with limits of time and memory: a hostile or broken file can
 * harm no more than itself. A worker thread would not do: one large allocation in it ends the whole process.
 *
 * A small host process starts the parsers, since a process that starts another stands still for a moment, the longer the
 * more memory it has: that must not be the service, whose calls would hear it. The host ends when it is idle.
 */
export class DocumentParser {
  readonly #deps: DocumentParserDeps;
  #host: Host | undefined;
  #idle: Timer | undefined;
  #lastId = 0;

  constructor(deps: DocumentParserDeps) {
    this.#deps = deps;
  }

  /**
   * Reads a document's chunks.
   *
   * @throws {DocumentError} When the document cannot be read within the limits, or its process died twice.
   * @throws The error of `store`, or the signal's reason.
   */
  async parse(request: ParseRequest, receiver: Receiver<TextChunk>, signal: AbortSignal): Promise<void> {
    await this.#read(request, receiver as Receiver<ParsedItem>, signal);
  }

  /** Reads a table's rows. @throws As {@link parse} does. */
  async readRows(request: TableRequest, receiver: Receiver<TableRow>, signal: AbortSignal): Promise<void> {
    await this.#read(request, receiver as Receiver<ParsedItem>, signal);
  }

  async #read(
    request: ParseRequest | TableRequest,
    { restart, store }: Receiver<ParsedItem>,
    signal: AbortSignal,
  ): Promise<void> {
    const { size } = await stat(request.path);
    const timeMs = TIME_LIMIT_MS + Math.ceil((size / BYTES_PER_MIB) * TIME_LIMIT_MS_PER_MIB);
    const limits = { timeMs, memoryMb: MEMORY_LIMIT_MB, ...this.#deps.limits };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#parseOnce(request, limits, store, signal);
      } catch (error) {
        if (!(error instanceof ParserDiedError)) throw error;
        if (attempt === TRIES) {
          throw new DocumentError('The process that read the file died twice; the file was not read', {
            cause: error,
          });
        }
        await restart();
      }
    }
  }

  /** Ends the host, and with it all parsers. Idempotent. */
  close(): void {
    this.#idle?.cancel();
    if (this.#host?.child.connected) this.#host.child.disconnect();
  }

  async #parseOnce(
    request: ParseRequest | TableRequest,
    limits: ParseLimits,
    store: StoreItems<ParsedItem>,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const id = ++this.#lastId;
    const { remote, stores } = this.#connect();
    let stop: (error: unknown) => void = () => undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      stop = reject;
    });
    const giveUp = () => stop(signal.reason);
    signal.addEventListener('abort', giveUp);
    stores.set(id, (items) =>
      store(items).catch((error) => {
        stop(error);
        throw error;
      }),
    );
    const ended = remote.call
      .parse(id, request, limits)
      .catch((error): ParseEnd => ({ kind: 'died', how: error.message }));
    try {
      const end = await Promise.race([ended, stopped]);
      if (end.kind !== 'done') throw failureOf(end, limits);
    } finally {
      signal.removeEventListener('abort', giveUp);
      stores.delete(id);
      remote.notify.stop(id);
      this.#rest();
    }
  }

  #connect(): Host {
    this.#idle?.cancel();
    if (this.#host?.child.connected) return this.#host;
    const child = startProcess(new URL('./parserHostProcess.ts', import.meta.url));
    const port = portOf(child);
    const remote = remoteOf<HostMethods>(port);
    const stores: Host['stores'] = new Map();
    serve(port, { store: async (id, items) => await stores.get(id)?.(items) } satisfies HostEvents);
    child.once('error', (error) => remote.close(new Error(`the parsers' host failed: ${error.message}`)));
    child.once('exit', (code, signal) =>
      remote.close(new Error(`the parsers' host exited with ${code ?? signal}`)),
    );
    this.#host = { child, remote, stores };
    return this.#host;
  }

  #rest(): void {
    this.#idle?.cancel();
    if (this.#host?.stores.size === 0)
      this.#idle = this.#deps.clock.setTimer(() => this.close(), HOST_IDLE_MS);
  }
}

function failureOf(end: Exclude<ParseEnd, { kind: 'done' }>, { timeMs, memoryMb }: ParseLimits): Error {
  switch (end.kind) {
    case 'refused':
      return new DocumentError(end.reason);
    case 'exceeded':
      return new DocumentError(
        end.limit === 'timeMs'
          ? `The file takes more than ${Math.round(timeMs / 1000)} s to read; split it into smaller ones`
          : `The file needs more than ${memoryMb} MB of memory to read; split it into smaller ones`,
      );
    case 'died':
      return new ParserDiedError(end.how);
    case 'broken':
      return new DocumentError('The file is damaged, or made in a way that cannot be read', {
        cause: end.message,
      });
  }
}
