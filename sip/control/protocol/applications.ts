import type { Clock, Timer } from '../../clock.ts';
import type { ByteString } from '../../message/bytes.ts';
import type { Counters } from '../../stats.ts';

/** The control connection of an application. */
export interface ApplicationConnection {
  /** The tags: an application that reconnects with the same ones gets its calls back. */
  readonly identity: string;
  readonly routes: ReadonlySet<string>;
  write(payload: ByteString): void;
}

/** The application that owns a call. It outlives its connection by a grace period. */
export interface Application {
  readonly identity: string;
  readonly isConnected: boolean;
  /** Sends a frame, or keeps it for the next connection. */
  send(payload: ByteString): void;
}

export interface Applications {
  /** Selects among the applications with a route for the verb, round robin. */
  selectForRoute(verb: string): Application | undefined;
  /** The verbs that had a route since the start. */
  readonly routedVerbs: ReadonlySet<string>;
  attach(connection: ApplicationConnection): Application;
  detach(connection: ApplicationConnection): void;
  /** Adds a verb to `routedVerbs`. */
  noteRoute(verb: string): void;
  readonly size: number;
  close(): void;
}

export interface ApplicationsDeps {
  readonly clock: Clock;
  readonly counters: Counters;
  /** The time for which a disconnected application keeps its calls. */
  readonly graceMs: number;
  /** The connection is lost; pending requests get no response from the application. */
  onDisconnected(application: Application): void;
  /** The grace period is over; the calls must end. */
  onExpired(application: Application): void;
}

/** Frames kept for a disconnected application. */
const MAX_KEPT_FRAMES = 1000;

class ApplicationRecord implements Application {
  readonly identity: string;
  connection: ApplicationConnection | undefined;
  kept: ByteString[] = [];
  grace: Timer | undefined;
  readonly #counters: Counters;

  constructor(connection: ApplicationConnection, counters: Counters) {
    this.identity = connection.identity;
    this.connection = connection;
    this.#counters = counters;
  }

  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  send(payload: ByteString): void {
    if (this.connection) this.connection.write(payload);
    else if (this.kept.length < MAX_KEPT_FRAMES) this.kept.push(payload);
    else this.#counters.count('dropped.app_frames');
  }

  adopt(connection: ApplicationConnection): void {
    this.grace?.cancel();
    this.grace = undefined;
    this.connection = connection;
    const kept = this.kept;
    this.kept = [];
    for (const payload of kept) connection.write(payload);
  }
}

export function createApplications(deps: ApplicationsDeps): Applications {
  /** The application that new calls of a connection belong to. */
  const applications = new Map<ApplicationConnection, ApplicationRecord>();
  /** The applications with a connection or within their grace period. */
  const known = new Set<ApplicationRecord>();
  const turns = new Map<string, number>();
  const wanted = new Set<string>();

  const orphan = (application: ApplicationRecord): void => {
    application.connection = undefined;
    application.grace = deps.clock.setTimer(() => {
      known.delete(application);
      deps.counters.count('apps.gone');
      deps.onExpired(application);
    }, deps.graceMs);
    deps.onDisconnected(application);
  };

  return {
    get size() {
      return applications.size;
    },
    selectForRoute(verb) {
      const willing = [...applications].filter(([connection]) => connection.routes.has(verb));
      const turn = turns.get(verb) ?? 0;
      turns.set(verb, (turn + 1) % Math.max(willing.length, 1));
      return willing[turn % Math.max(willing.length, 1)]?.[1];
    },
    routedVerbs: wanted,
    noteRoute: (verb) => wanted.add(verb),
    attach(connection) {
      const waiting = [...known].filter(
        (application) => !application.isConnected && application.identity === connection.identity,
      );
      const application = waiting[0] ?? new ApplicationRecord(connection, deps.counters);
      known.add(application);
      applications.set(connection, application);
      for (const orphaned of waiting) orphaned.adopt(connection);
      if (waiting.length > 0) deps.counters.count('apps.returned');
      return application;
    },
    detach(connection) {
      applications.delete(connection);
      for (const application of known) if (application.connection === connection) orphan(application);
    },
    close() {
      for (const application of known) application.grace?.cancel();
      known.clear();
      applications.clear();
    },
  };
}
