import { unavailable } from '../../../../src/base/errors.ts';
import type { Clock } from '../../../../src/base/values/clock.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';

/** Chooses the order of steps. */
export interface Scheduler {
  schedule<Result>(task: Promise<Result>, label?: string): Promise<Result>;
  /** Releases this number of waiting tasks, one after the other. */
  waitNext(count: number): Promise<void>;
}

/** Releases steps in the order of their arrival. */
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

/** Every step of a call waits here until the scheduler releases it. */
export interface Gates {
  readonly clock: ReturnType<typeof createSimulatedClock>;
  /** Waits for the scheduler. */
  pass(what: string): Promise<void>;
  /** Fails requests to a service for this time. Requests in progress may be done, with their answers lost. */
  breakService(service: Service, forMs: number): void;
  /** Whether the service has ever been away, so that only expiring leases release slots. */
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

/** One process of a node. A dead one makes and receives no requests, and none of its timers fires. */
export interface NodeProcess {
  readonly name: string;
  readonly clock: Clock;
  isAlive: boolean;
}

export function startProcess(gates: Gates, name: string): NodeProcess {
  const { clock } = gates;
  const life: NodeProcess = {
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

/** A service's port as this node reaches it: each call waits before it is done, and before its answer arrives. */
export function remotePort<Port extends object>(
  gates: Gates,
  life: NodeProcess,
  service: Service,
  name: string,
  port: Port,
): Port {
  const through = async (what: string, work: () => unknown) => {
    await gates.pass(`${life.name} requests ${what}`);
    if (!life.isAlive) return NEVER;
    if (gates.isAway(service)) throw unavailable('redis', new Error(`${service} is away`));
    const result = await work();
    await gates.pass(`${life.name} gets the answer of ${what}`);
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
