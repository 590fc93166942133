import { type EmbeddedSipServer, startEmbeddedSipServer } from './embed.ts';
import type { SipServerOptions } from './options.ts';
import type { RefusedInvite } from './refusals.ts';
import type { SipServerStats } from './server.ts';
import type { TraceEntry } from './trace.ts';
import type { KnownPeer } from './transport/guard.ts';
import type { Endpoint } from './transport/types.ts';

export interface SupervisorEvents {
  /** The thread has ended; a restart follows. */
  onCrash(error: Error): void;
  /** A restart failed; another attempt follows. */
  onRestartFailed(error: unknown): void;
  /** Calls that the server has rejected itself, in batches. */
  onRefused?(refused: readonly RefusedInvite[]): void;
}

type TraceListener = (entries: readonly TraceEntry[]) => void;

const FIRST_RESTART_MS = 200;
const MAX_RESTART_MS = 10_000;

/** An embedded SIP server that is restarted when its thread ends, on the same SIP port: peers send calls there. */
export class SupervisedSipServer {
  /** The ports of the first start. */
  readonly sipPorts: readonly Endpoint[];
  readonly #options: SipServerOptions;
  readonly #events: SupervisorEvents;
  readonly #start: typeof startEmbeddedSipServer;
  readonly #traces = new Set<{ callId: string; listener: TraceListener; stop: () => void }>();
  readonly #closed: Promise<undefined>;
  #announceClosed: () => void = () => undefined;
  #server: EmbeddedSipServer | undefined;
  #peers: readonly KnownPeer[] = [];
  #isClosed = false;
  #supervising: Promise<void> = Promise.resolve();

  private constructor(
    server: EmbeddedSipServer,
    options: SipServerOptions,
    events: SupervisorEvents,
    start: typeof startEmbeddedSipServer,
  ) {
    this.#start = start;
    this.sipPorts = server.sipPorts;
    this.#server = server;
    this.#options = options;
    this.#events = events;
    this.#closed = new Promise((resolve) => {
      this.#announceClosed = () => resolve(undefined);
    });
  }

  /** @throws {Error} When the first start fails: a port is in use, a certificate is invalid. */
  static async start(
    options: SipServerOptions,
    events: SupervisorEvents,
    start: typeof startEmbeddedSipServer = startEmbeddedSipServer,
  ): Promise<SupervisedSipServer> {
    const supervised = new SupervisedSipServer(
      await start(options, (refused) => events.onRefused?.(refused)),
      options,
      events,
      start,
    );
    supervised.#supervising = supervised.#supervise();
    return supervised;
  }

  /** The port of the control connection; undefined while the server is down. */
  get controlPort(): number | undefined {
    return this.#server?.controlPort;
  }

  /** The UDP port, or the TCP port without UDP. */
  get sipPort(): number | undefined {
    const udp = this.sipPorts.find(({ transport }) => transport === 'udp');
    return (udp ?? this.sipPorts.find(({ transport }) => transport === 'tcp'))?.port;
  }

  /** @see EmbeddedSipServer.setKnownPeers */
  setKnownPeers(peers: readonly KnownPeer[]): void {
    this.#server?.setKnownPeers(peers);
    this.#peers = peers;
  }

  /** Returns the statistics; undefined while the server is down. */
  async stats(): Promise<SipServerStats | undefined> {
    return await this.#server?.stats().catch(() => undefined);
  }

  /** Traces a call as `EmbeddedSipServer.trace` does, and continues after a restart. */
  trace(callId: string, listener: TraceListener): () => void {
    const trace = { callId, listener, stop: this.#server?.trace(callId, listener) ?? (() => undefined) };
    this.#traces.add(trace);
    return () => {
      this.#traces.delete(trace);
      trace.stop();
    };
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#announceClosed();
    await this.#supervising;
    await this.#server?.close();
  }

  async #supervise(): Promise<void> {
    while (this.#server && !this.#isClosed) {
      const error = await Promise.race([this.#server.lost, this.#closed]);
      if (error === undefined) return;
      this.#server = undefined;
      this.#events.onCrash(error);
      await this.#restart();
    }
  }

  async #restart(): Promise<void> {
    for (let delayMs = FIRST_RESTART_MS; ; delayMs = Math.min(2 * delayMs, MAX_RESTART_MS)) {
      await this.#wait(delayMs);
      if (this.#isClosed) return;
      try {
        const options = { ...this.#options, port: this.sipPort ?? this.#options.port };
        const server = await this.#start(options, (refused) => this.#events.onRefused?.(refused));
        server.setKnownPeers(this.#peers);
        this.#server = server;
        for (const trace of this.#traces) trace.stop = server.trace(trace.callId, trace.listener);
        return;
      } catch (error) {
        this.#events.onRestartFailed(error);
      }
    }
  }

  async #wait(delayMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const elapsed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, delayMs);
    });
    await Promise.race([elapsed, this.#closed]);
    clearTimeout(timer);
  }
}
