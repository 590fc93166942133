import type { Clock, Timer } from '../clock.ts';
import type { ByteString } from '../message/bytes.ts';
import type { Counters } from '../stats.ts';

/** What a connected application looks like to the rest of the server. */
export interface AppConnection {
  /** Secret and tags: an application that comes back with the same ones is taken for the same. */
  readonly identity: string;
  readonly routes: ReadonlySet<string>;
  write(payload: ByteString): void;
}

/** Who a call belongs to. Outlives the connection for a while. */
export interface Owner {
  readonly identity: string;
  readonly isConnected: boolean;
  /** Writes, or keeps for the connection that comes back. */
  send(payload: ByteString): void;
}

export interface Apps {
  /** The next of the applications that want such requests, in turn. */
  choose(verb: string): Owner | undefined;
  /** The verbs that any application has asked for since the start. */
  readonly wanted: ReadonlySet<string>;
  join(connection: AppConnection): Owner;
  leave(connection: AppConnection): void;
  /** It asks for requests of that kind. */
  want(verb: string): void;
  readonly size: number;
  close(): void;
}

export interface AppsDeps {
  readonly clock: Clock;
  readonly counters: Counters;
  /** How long an owner without connection keeps its calls. */
  readonly graceMs: number;
  /** The connection broke; what waits for an answer gets none from there. */
  onLost(owner: Owner): void;
  /** Nobody came back in time; its calls are to be ended. */
  onGone(owner: Owner): void;
}

/** What is kept for an application that may come back. */
const MAX_KEPT_FRAMES = 1000;

class OwnerRecord implements Owner {
  readonly identity: string;
  connection: AppConnection | undefined;
  kept: ByteString[] = [];
  grace: Timer | undefined;
  readonly #counters: Counters;

  constructor(connection: AppConnection, counters: Counters) {
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

  adopt(connection: AppConnection): void {
    this.grace?.cancel();
    this.grace = undefined;
    this.connection = connection;
    const kept = this.kept;
    this.kept = [];
    for (const payload of kept) connection.write(payload);
  }
}

export function createApps(deps: AppsDeps): Apps {
  /** The one that new calls of a connection belong to. */
  const owners = new Map<AppConnection, OwnerRecord>();
  /** All that still have calls or a connection, those that were adopted too. */
  const known = new Set<OwnerRecord>();
  const turns = new Map<string, number>();
  const wanted = new Set<string>();

  const orphan = (owner: OwnerRecord): void => {
    owner.connection = undefined;
    owner.grace = deps.clock.setTimer(() => {
      known.delete(owner);
      deps.counters.count('apps.gone');
      deps.onGone(owner);
    }, deps.graceMs);
    deps.onLost(owner);
  };

  return {
    get size() {
      return owners.size;
    },
    choose(verb) {
      const willing = [...owners].filter(([connection]) => connection.routes.has(verb));
      const turn = turns.get(verb) ?? 0;
      turns.set(verb, (turn + 1) % Math.max(willing.length, 1));
      return willing[turn % Math.max(willing.length, 1)]?.[1];
    },
    wanted,
    want: (verb) => wanted.add(verb),
    join(connection) {
      const waiting = [...known].filter(
        (owner) => !owner.isConnected && owner.identity === connection.identity,
      );
      const owner = waiting[0] ?? new OwnerRecord(connection, deps.counters);
      known.add(owner);
      owners.set(connection, owner);
      for (const orphaned of waiting) orphaned.adopt(connection);
      if (waiting.length > 0) deps.counters.count('apps.returned');
      return owner;
    },
    leave(connection) {
      owners.delete(connection);
      for (const owner of known) if (owner.connection === connection) orphan(owner);
    },
    close() {
      for (const owner of known) owner.grace?.cancel();
      known.clear();
      owners.clear();
    },
  };
}
