import type { Clock, Timer } from '../../clock.ts';
import type { ByteString } from '../../message/bytes.ts';
import type { Counters } from '../../stats.ts';

/** What a connected application looks like to the rest of the server. */
export interface ApplicationConnection {
  /** Secret and tags: an application that comes back with the same ones is taken for the same. */
  readonly identity: string;
  readonly routes: ReadonlySet<string>;
  write(payload: ByteString): void;
}

/** Who a call belongs to. Outlives the connection for a while. */
export interface Application {
  readonly identity: string;
  readonly isConnected: boolean;
  /** Writes, or keeps for the connection that comes back. */
  send(payload: ByteString): void;
}

export interface Applications {
  /** The next of the applications that want such requests, in turn. */
  selectForRoute(verb: string): Application | undefined;
  /** The verbs that any application has asked for since the start. */
  readonly routedVerbs: ReadonlySet<string>;
  attach(connection: ApplicationConnection): Application;
  detach(connection: ApplicationConnection): void;
  /** It asks for requests of that kind. */
  noteRoute(verb: string): void;
  readonly size: number;
  close(): void;
}

export interface ApplicationsDeps {
  readonly clock: Clock;
  readonly counters: Counters;
  /** How long an application without connection keeps its calls. */
  readonly graceMs: number;
  /** The connection broke; what waits for an answer gets none from there. */
  onDisconnected(application: Application): void;
  /** Nobody came back in time; its calls are to be ended. */
  onExpired(application: Application): void;
}

/** What is kept for an application that may come back. */
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
  /** The one that new calls of a connection belong to. */
  const applications = new Map<ApplicationConnection, ApplicationRecord>();
  /** All that still have calls or a connection, those that were adopted too. */
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
