import type { Clock } from '../../../../src/base/clock.ts';
import { unavailable } from '../../../../src/base/errors.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';

/** Chooses what happens next. */
export interface Scheduler {
  schedule<Result>(task: Promise<Result>, label?: string): Promise<Result>;
  /** Lets so many of the waiting tasks go on, one after the other. */
  waitNext(count: number): Promise<void>;
}

/** Everything happens in the order in which it could. */
export function inOrder(): Scheduler {
  const waiting: (() => void)[] = [];
  return {
    schedule: async (task) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return await task;
    },
    async waitNext(count) {
      for (const go of waiting.splice(0, count)) go();
    },
  };
}

export type Service = 'postgres' | 'redis' | 'node';

/** What every step of a call's life waits at, until the scheduler's choice falls on it. */
export interface Gates {
  readonly clock: ReturnType<typeof createSimulatedClock>;
  /** Waits for its turn. */
  pass(what: string): Promise<void>;
  /** Refuses what is asked of a service for so long; what it was just doing may be done, and its answer is lost. */
  breakService(service: Service, forMs: number): void;
  /** Whether the service has refused anything, so that leases are what frees things. */
  wasAway(service: Service): boolean;
  isAway(service: Service): boolean;
}

export function createGates(scheduler: Pick<Scheduler, 'schedule'>): Gates {
  const clock = createSimulatedClock();
  const awayUntilMs = new Map<Service, number>();
  return {
    clock,
    pass: (what) => scheduler.schedule(Promise.resolve(), what),
    breakService(service, forMs) {
      awayUntilMs.set(service, clock.now() + forMs);
    },
    wasAway: (service) => awayUntilMs.has(service),
    isAway: (service) => (awayUntilMs.get(service) ?? 0) > clock.now(),
  };
}

/** One life of a node: what died asks nothing, hears nothing, and none of its timers rings. */
export interface Life {
  readonly name: string;
  readonly clock: Clock;
  isAlive: boolean;
}

export function beginLife(gates: Gates, name: string): Life {
  const { clock } = gates;
  const life: Life = {
    name,
    isAlive: true,
    clock: {
      now: clock.now,
      monotonicMs: clock.monotonicMs,
      setTimer: (callback, delayMs) =>
        clock.setTimer(() => {
          if (life.isAlive) callback();
        }, delayMs),
    },
  };
  return life;
}

const NEVER = new Promise<never>(() => undefined);

/** The port of a service, as this node reaches it: each call waits twice, before it is done and before that is known. */
export function reached<Port extends object>(
  gates: Gates,
  life: Life,
  service: Service,
  name: string,
  port: Port,
): Port {
  const through = async (what: string, work: () => unknown) => {
    await gates.pass(`${life.name} asks ${what}`);
    if (!life.isAlive) return NEVER;
    if (gates.isAway(service)) throw unavailable('redis', new Error(`${service} is away`));
    const result = await work();
    await gates.pass(`${life.name} is answered ${what}`);
    if (!life.isAlive) return NEVER;
    if (gates.isAway(service)) throw unavailable('redis', new Error(`the answer of ${service} is lost`));
    return result;
  };
  const entries = Object.entries(port).map(([method, work]) => [
    method,
    (...args: unknown[]) =>
      through(`${name}.${method}`, () => (work as (...given: unknown[]) => unknown)(...args)),
  ]);
  return Object.fromEntries(entries) as Port;
}
