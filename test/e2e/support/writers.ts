import { setTimeout as sleep } from 'node:timers/promises';

import type { TestProject } from '../../support/gateway.ts';

const CLIENTS = 8;
/** After a failed write: no client may keep a core busy while the service is down. */
const RETRY_MS = 20;

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: object;
  /** Where to read the object, and the content expected there. */
  readonly kept: (answer: { id: string }) => { path: string; fields: object };
}

export interface Writers {
  /** Acknowledged objects and their expected content; grows. */
  readonly acknowledged: readonly { path: string; fields: object }[];
  /** Statuses of requests that were answered but not acknowledged; grows. */
  readonly refused: readonly number[];
  /** Lets running requests finish or fail. */
  stop(): Promise<void>;
  /** Reads everything acknowledged. @returns Where the content differs. */
  missingFrom(url: string): Promise<string[]>;
}

/** Eight clients that create tools and test cases and change a node each, as fast as they are answered. */
export function startWriters(url: string, project: TestProject): Writers {
  const acknowledged: { path: string; fields: object }[] = [];
  const refused: number[] = [];
  const headers = { authorization: `Bearer ${project.developerKey}`, 'content-type': 'application/json' };
  let stopped = false;

  const client = async (number: number) => {
    const node = `node_${number}`;
    let nodeState: { path: string; fields: object } | undefined;
    for (let turn = 0; !stopped; turn += 1) {
      const write = writeOf(project.path, node, `w_${number}_${turn}`, turn);
      const { method, body } = write;
      const answer = await fetch(url + write.path, { method, headers, body: JSON.stringify(body) })
        .then(async (response) => ({
          status: response.status,
          body: (await response.json()) as { id: string; code?: string },
        }))
        .catch(() => undefined);
      if (!answer) {
        await sleep(RETRY_MS);
        continue;
      }
      if (answer.status >= 300) {
        // The node may exist from an attempt whose answer was lost.
        if (answer.body.code === 'duplicate_id') continue;
        refused.push(answer.status);
        await sleep(RETRY_MS);
        continue;
      }
      const kept = write.kept(answer.body);
      if (nodeState?.path === kept.path) nodeState.fields = kept.fields;
      else {
        acknowledged.push(kept);
        if (kept.path.includes('/pathway/')) nodeState = kept;
      }
    }
  };
  const running = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));

  return {
    acknowledged,
    refused,
    async stop() {
      stopped = true;
      await running;
    },
    async missingFrom(from) {
      const missing: string[] = [];
      const left = [...acknowledged];
      const reader = async () => {
        for (let next = left.pop(); next; next = left.pop()) {
          const response = await fetch(from + next.path, { headers });
          const found = (await response.json()) as object;
          if (response.status !== 200 || !holds(found, next.fields))
            missing.push(`${next.path}: ${JSON.stringify(found)}`);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, reader));
      return missing;
    },
  };
}

function writeOf(base: string, node: string, name: string, turn: number): Write {
  const http = { method: 'GET', url: 'https://example.com/' };
  if (turn === 0) {
    const body = { id: node, type: 'say', data: { title: name } };
    return place('POST', `${base}/pathway/nodes`, body, () => ({
      path: `${base}/pathway/nodes/${node}`,
      fields: { id: node },
    }));
  }
  const create = (list: string, body: object) =>
    place('POST', `${base}/${list}`, body, ({ id }) => ({
      path: `${base}/${list}/${id}`,
      fields: { id, name },
    }));
  if (turn % 3 === 0) return create('tools', { name, http });
  if (turn % 3 === 1) return create('test-cases', { name });
  const path = `${base}/pathway/nodes/${node}`;
  // Only ever increases, so that a later write whose answer was lost differs from a lost earlier one.
  return place('PATCH', path, { position: { x: turn, y: 0 } }, () => ({
    path,
    fields: { position: { x: turn } },
  }));
}

function place(method: string, path: string, body: object, kept: Write['kept']): Write {
  return { method, path, body, kept };
}

/** Whether an object has the acknowledged content, or for a position a later one. */
function holds(found: object, fields: object): boolean {
  return Object.entries(fields).every(([key, value]) => {
    const is = (found as Record<string, unknown>)[key];
    if (key === 'position') return (is as { x: number }).x >= (value as { x: number }).x;
    return is === value;
  });
}
