import type { ProjectUsage } from '../../../../src/calls/limits/projectUsage.ts';
import type { Leases } from '../../../../src/calls/nodes/leases.ts';
import type { NodeBus, NodeMessage } from '../../../../src/calls/nodes/nodeBus.ts';
import type { CallQueue, JobResult } from '../../../../src/calls/setup/callQueue.ts';
import type { NumberLock } from '../../../../src/calls/setup/numberLock.ts';
import type { TrunkSlots } from '../../../../src/calls/trunks/trunkSlots.ts';
import type { Gates, NodeProcess } from './gates.ts';

const FIRST_LEASE_MS = 15_000;
const LEASE_MS = 60_000;
/** A job whose node failed is given to another node after this time. */
const STALLED_MS = 20_000;

/** Redis as the nodes use it, by the rules of its scripts. */
export interface Redis {
  /** Everything that calls hold. */
  held(): string[];
  /** Loses every lease, as in a failover before replication. */
  lose(): void;
  readonly lock: NumberLock;
  readonly slots: TrunkSlots;
  readonly counts: ProjectUsage;
  leasesOf(life: NodeProcess): Leases;
  queueOf(life: NodeProcess): CallQueue;
  busOf(life: NodeProcess): NodeBus;
}

export function createRedis(gates: Gates): Redis {
  const now = gates.clock.now;
  const leases = new Map<string, { holder: string; untilMs: number }>();
  const holderOf = (name: string) => {
    const lease = leases.get(name);
    return lease && lease.untilMs > now() ? lease.holder : undefined;
  };
  const acquire = (name: string, holder: string, forMs: number) => {
    if ((holderOf(name) ?? holder) !== holder) return false;
    leases.set(name, { holder, untilMs: now() + forMs });
    return true;
  };
  const renew = (name: string, holder: string) =>
    holderOf(name) === holder && acquire(name, holder, LEASE_MS);
  const release = (name: string, holder: string) => {
    if (holderOf(name) === holder) leases.delete(name);
  };
  const inUse = (prefix: string) =>
    [...leases.keys()].filter((name) => name.startsWith(prefix) && holderOf(name) !== undefined);
  let token = 0;
  const jobs = createJobs(gates);
  const listeners = new Map<NodeProcess, Set<(message: NodeMessage) => void>>();
  return {
    held: () => inUse('call:'),
    lose: () => leases.clear(),
    lock: {
      acquire: async (_project, number, callId) =>
        acquire(`call:lock:${number}`, callId, FIRST_LEASE_MS) ? ++token : undefined,
      renew: async (_project, number, callId) => renew(`call:lock:${number}`, callId),
      release: async (_project, number, callId) => release(`call:lock:${number}`, callId),
    },
    slots: {
      async acquire({ id, maxChannels }, callId) {
        const name = `call:slot:${id}:${callId}`;
        if (holderOf(name) === undefined && inUse(`call:slot:${id}:`).length >= maxChannels) return 1000;
        acquire(name, callId, LEASE_MS);
        return 0;
      },
      async renew(id, callId) {
        acquire(`call:slot:${id}:${callId}`, callId, LEASE_MS);
      },
      release: async (id, callId) => release(`call:slot:${id}:${callId}`, callId),
      inUse: async (id) => inUse(`call:slot:${id}:`).length,
    },
    counts: {
      countCall: async () => undefined,
      async acquireSlot(projectId, callId, slots) {
        const name = `call:projectSlot:${projectId}:${callId}`;
        if (holderOf(name) === undefined && inUse(`call:projectSlot:${projectId}:`).length >= slots)
          return false;
        return acquire(name, callId, LEASE_MS);
      },
      async renewSlot(projectId, callId) {
        acquire(`call:projectSlot:${projectId}:${callId}`, callId, LEASE_MS);
      },
      releaseSlot: async (projectId, callId) => release(`call:projectSlot:${projectId}:${callId}`, callId),
    },
    leasesOf: ({ name }) => ({
      hold: async (lease, leaseMs) => acquire(`node:${lease}`, name, leaseMs),
      release: async (lease) => release(`node:${lease}`, name),
    }),
    queueOf: (life) => jobs.queueOf(life),
    busOf: (life) => ({
      async publish(message) {
        for (const [other, own] of listeners) {
          void gates.pass(`${other.name} receives ${message.kind}`).then(() => {
            if (other.isAlive && !gates.isAway('redis')) for (const listener of own) listener(message);
          });
        }
      },
      subscribe(listener) {
        const own = listeners.get(life) ?? new Set();
        listeners.set(life, own.add(listener));
        return () => own.delete(listener);
      },
    }),
  };
}

type Job = { state: 'waiting' | 'active' | 'delayed'; holder?: NodeProcess };

/** One job per call; the first node that asks gets it. */
function createJobs(gates: Gates) {
  const jobs = new Map<string, Job>();
  const workers = new Map<
    NodeProcess,
    { work: (callId: string) => Promise<JobResult>; isPaused: boolean; running: Set<Promise<void>> }
  >();
  const offer = (callId: string) => {
    for (const [life] of workers)
      void gates.pass(`${life.name} polls the queue`).then(() => run(life, callId));
  };
  const later = (callId: string, ms: number) => {
    gates.clock.setTimer(() => {
      const job = jobs.get(callId);
      if (!job) return;
      job.state = 'waiting';
      offer(callId);
    }, ms);
  };
  const perform = async (life: NodeProcess, callId: string, work: (callId: string) => Promise<JobResult>) => {
    const again = await work(callId).then(
      (result) => ('again' in result ? result.afterMs : undefined),
      () => undefined,
    );
    await gates.pass(`${life.name} completes its job`);
    if (again === undefined) jobs.delete(callId);
    else {
      jobs.set(callId, { state: 'delayed' });
      later(callId, again);
    }
  };
  const run = (life: NodeProcess, callId: string) => {
    const [job, worker] = [jobs.get(callId), workers.get(life)];
    if (job?.state !== 'waiting' || !worker || worker.isPaused || !life.isAlive) return;
    if (gates.isAway('redis')) {
      job.state = 'delayed';
      return later(callId, 1000);
    }
    Object.assign(job, { state: 'active', holder: life });
    const running = perform(life, callId, worker.work).finally(() => worker.running.delete(running));
    worker.running.add(running);
    const stalled = () => {
      if (jobs.get(callId) !== job) return;
      if (life.isAlive) gates.clock.setTimer(stalled, STALLED_MS);
      else later(callId, 0);
    };
    gates.clock.setTimer(stalled, STALLED_MS);
  };
  return {
    queueOf: (life: NodeProcess): CallQueue => ({
      async add(callId) {
        if (jobs.has(callId)) return;
        jobs.set(callId, { state: 'waiting' });
        offer(callId);
      },
      async remove(callId) {
        if (jobs.get(callId)?.state !== 'active') jobs.delete(callId);
      },
      async process(work) {
        const worker = { work, isPaused: false, running: new Set<Promise<void>>() };
        workers.set(life, worker);
        return {
          async pause() {
            worker.isPaused = true;
          },
          async close() {
            worker.isPaused = true;
            await Promise.all(worker.running);
          },
        };
      },
    }),
  };
}
