import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { PendingTurn, TurnSpool } from '../../engine/session/writeBehind.ts';

const ENDING = '.jsonl';
const INSTANCE_ID = /^[0-9a-f-]{36}$/;

/**
 * Turns that wait for the database, in a folder of this machine: a file for each session, a line for each turn. Nodes
 * that share the folder may keep each other's turns; the store keeps each of them once.
 */
export function createTurnSpool(folder: string): TurnSpool {
  const pathOf = (instanceId: string) => {
    if (!INSTANCE_ID.test(instanceId)) throw new RangeError(`${instanceId} is no session's instance`);
    return join(folder, instanceId + ENDING);
  };
  return {
    async put(turn) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await appendFile(pathOf(turn.session.instanceId), `${JSON.stringify(turn)}\n`, {
        mode: 0o600,
        flush: true,
      });
    },
    async drop(instanceId) {
      await rm(pathOf(instanceId), { force: true });
    },
    async readPending() {
      const names = await readdir(folder).catch(() => []);
      const files = names.filter((name) => name.endsWith(ENDING)).sort();
      return await Promise.all(
        files.map(async (name) => readTurns(await readFile(join(folder, name), 'utf8'))),
      );
    },
  };
}

/** The last line may have been begun only. */
function readTurns(text: string): PendingTurn[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line): PendingTurn => JSON.parse(line));
}
