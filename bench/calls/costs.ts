import type { Server } from '../chat/servers.ts';
import type { ProductNode, Stand } from './stand.ts';

/** What a process of the product takes, for each call. */
export interface NodeCost {
  readonly role: string;
  readonly cpuPercent: number;
  readonly megabytes: number;
  /** Of the process without calls. */
  readonly megabytesBefore: number;
}

export interface Costs {
  readonly nodes: readonly NodeCost[];
  /** CPU time for each call, in percent of a core. */
  readonly phonesPercent: number;
  readonly modelsPercent: number;
}

/** Measures what is taken from `begin` on, against what there was before there were any calls. */
export interface CostMeter {
  begin(): Promise<void>;
  read(calls: number): Promise<Costs>;
}

export async function startCostMeter({ nodes, models }: Stand): Promise<CostMeter> {
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

/** CPU time until then, in microseconds. */
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
