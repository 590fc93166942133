import type { Server } from '../chat/servers.ts';
import type { Installation, ProductNode } from './installation.ts';

/** Cost of one process of the product, per call. */
interface NodeCost {
  readonly role: string;
  readonly cpuPercent: number;
  readonly megabytes: number;
  /** Memory of the process without calls. */
  readonly megabytesBefore: number;
}

export interface Costs {
  readonly nodes: readonly NodeCost[];
  /** CPU time per call, in percent of a core. */
  readonly phonesPercent: number;
  readonly modelsPercent: number;
}

/** Measures the cost from `begin` on, relative to the idle process. */
export interface CostMeter {
  begin(): Promise<void>;
  read(calls: number): Promise<Costs>;
}

export async function startCostMeter({ nodes, models }: Installation): Promise<CostMeter> {
  const memoryBefore = await memoryOf(nodes);
  let begun: Moment | undefined;
  return {
    async begin() {
      begun = await momentOf(nodes, models);
    },
    async read(calls) {
      const now = await momentOf(nodes, models);
      const memory = await memoryOf(nodes);
      const from = begun ?? now;
      const percent = (microseconds: number) => microseconds / (now.atMs - from.atMs) / 10 / calls;
      return {
        nodes: nodes.map(({ role }, n) => ({
          role,
          cpuPercent: percent((now.nodes[n] ?? 0) - (from.nodes[n] ?? 0)),
          megabytes: ((memory[n] ?? 0) - (memoryBefore[n] ?? 0)) / calls,
          megabytesBefore: memoryBefore[n] ?? 0,
        })),
        phonesPercent: percent(now.phones - from.phones),
        modelsPercent: percent(now.models - from.models),
      };
    },
  };
}

/** CPU time so far, in microseconds. */
interface Moment {
  readonly atMs: number;
  readonly nodes: readonly number[];
  readonly phones: number;
  readonly models: number;
}

async function momentOf(nodes: readonly ProductNode[], models: Server): Promise<Moment> {
  const { user, system } = process.cpuUsage();
  return {
    nodes: await Promise.all(nodes.map(({ server }) => server.cpuMicroseconds())),
    models: await models.cpuMicroseconds(),
    phones: user + system,
    atMs: performance.now(),
  };
}

async function memoryOf(nodes: readonly ProductNode[]): Promise<readonly number[]> {
  const figures = await Promise.all(nodes.map(({ server }) => server.figures()));
  return figures.map(({ rssBytes }) => rssBytes / 1e6);
}
