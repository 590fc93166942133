import type { Clock, Timer } from '../../base/clock.ts';
import type { Leases } from '../../calls/nodes/leases.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { TrunkHealthStore } from '../../calls/trunks/trunkHealth.ts';
import type { SipControl } from '../control/control.ts';
import type { TrunkDirectory } from './directory.ts';
import { type HealthState, monitorTrunkHealth } from './healthCheck.ts';
import { keepRegistered, type RegistrationState } from './registration.ts';

/** Registers and checks each trunk, on exactly one node at a time. */
export interface TrunkMonitors {
  start(): void;
  /** Trunks that this node watches now. */
  readonly count: number;
  /** Unregisters what this node registered, and lets other nodes have the trunks. Idempotent. */
  close(): Promise<void>;
}

export interface TrunkMonitorsDeps {
  readonly directory: Pick<TrunkDirectory, 'trunks' | 'onChange'>;
  readonly leases: Leases;
  readonly board: Pick<TrunkHealthStore, 'publish'>;
  readonly control: SipControl;
  readonly clock: Clock;
  readonly random: () => number;
  readonly makeToken: () => string;
  readonly onError: (error: unknown, what: string) => void;
}

/** A node that dies is followed by another one within this time. */
const LEASE_MS = 15_000;
const RENEW_MS = 5000;
/** What is published may be forgotten by whoever keeps it. */
const REPEAT_EVERY_ROUNDS = 4;

interface Watch {
  readonly trunk: Trunk;
  publish(): void;
  close(): Promise<void>;
}

export function createTrunkMonitors(deps: TrunkMonitorsDeps): TrunkMonitors {
  const { directory, leases, clock, onError } = deps;
  const watches = new Map<string, Watch>();
  let timer: Timer | undefined;
  let rounds = 0;
  let isClosed = false;
  let work = Promise.resolve();

  const stop = async (id: string) => {
    const watch = watches.get(id);
    watches.delete(id);
    await watch?.close();
  };
  /** Undefined while nobody can say: what is held is kept, since nobody else can take it then. */
  const hold = async (id: string): Promise<boolean | undefined> => {
    try {
      return await leases.hold(leaseOf(id), LEASE_MS);
    } catch (error) {
      onError(error, 'the lease of a trunk could not be taken');
      return undefined;
    }
  };
  const look = async (trunk: Trunk) => {
    const watch = watches.get(trunk.id);
    const isOurs = await hold(trunk.id);
    if (isOurs === false) return await stop(trunk.id);
    if (watch && watch.trunk.updatedAt === trunk.updatedAt) {
      if (rounds % REPEAT_EVERY_ROUNDS === 0) watch.publish();
      return;
    }
    if (watch) await stop(trunk.id);
    if (isOurs && !isClosed) watches.set(trunk.id, watchTrunk(trunk, deps));
  };
  const round = async () => {
    timer?.cancel();
    rounds += 1;
    const wanted = directory.trunks.filter(isWatched);
    const ids = new Set(wanted.map(({ id }) => id));
    const gone = [...watches.keys()].filter((id) => !ids.has(id));
    await Promise.all([...gone.map(giveUp), ...wanted.map(look)]);
    if (!isClosed) timer = clock.setTimer(schedule, RENEW_MS);
  };
  const giveUp = async (id: string) => {
    await stop(id);
    // What was seen last holds no longer, and nobody looks any more.
    await deps.board
      .publish(id, UNSEEN)
      .catch((error: unknown) => onError(error, 'the health of a trunk was not published'));
    await leases
      .release(leaseOf(id))
      .catch((error: unknown) => onError(error, 'the lease of a trunk was not released'));
  };
  const schedule = () => {
    if (isClosed) return;
    work = work.then(round).catch((error: unknown) => onError(error, 'the trunks could not be watched'));
  };
  let unsubscribe: () => void = () => undefined;
  let closing: Promise<void> | undefined;

  return {
    start() {
      unsubscribe = directory.onChange(schedule);
      schedule();
    },
    get count() {
      return watches.size;
    },
    close() {
      isClosed = true;
      timer?.cancel();
      unsubscribe();
      closing ??= work.then(async () => {
        timer?.cancel();
        await Promise.all([...watches.keys()].map(giveUp));
      });
      return closing;
    },
  };
}

const UNSEEN = { reachable: null, registered: null, lastOptionsMs: null, error: null };

function isWatched({ register, optionsIntervalSeconds }: Trunk): boolean {
  return register || optionsIntervalSeconds > 0;
}

function leaseOf(trunkId: string): string {
  return `trunk:${trunkId}`;
}

function watchTrunk(trunk: Trunk, deps: TrunkMonitorsDeps): Watch {
  let health: HealthState = { isReachable: null, lastOptionsMs: null, error: null };
  let registration: RegistrationState | undefined;
  const publish = () => {
    deps.board
      .publish(trunk.id, {
        reachable: health.isReachable,
        registered: trunk.register ? (registration?.isRegistered ?? null) : null,
        lastOptionsMs: health.lastOptionsMs,
        error: registration?.error ?? health.error,
      })
      .catch((error: unknown) => deps.onError(error, 'the health of a trunk was not published'));
  };
  const stopHealth =
    trunk.optionsIntervalSeconds === 0
      ? () => undefined
      : monitorTrunkHealth(trunk, {
          ...deps,
          onChange(state) {
            health = state;
            publish();
          },
        });
  const registering =
    trunk.register && trunk.username !== null
      ? keepRegistered(trunk, {
          ...deps,
          onChange(state) {
            registration = state;
            publish();
          },
        })
      : undefined;
  if (trunk.register && trunk.username === null) {
    registration = { isRegistered: false, error: 'The trunk has no username to register' };
    publish();
  }
  return {
    trunk,
    publish,
    async close() {
      stopHealth();
      await registering?.close();
    },
  };
}
