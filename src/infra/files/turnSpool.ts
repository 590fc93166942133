import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { PendingTurn, TurnSpool } from '../../engine/session/writeBehind.ts';

const ENDING = '.jsonl';
const INSTANCE_ID = /^[0-9a-f-]{36}$/;

/**
 * Turns that could not be written to the database yet: a file for each session, a line for each turn. Nodes may share
 * the folder; the store ignores a turn that is inserted twice.
 */
export function createTurnSpool(folder: string): TurnSpool {
  const pathOf = (instanceId: string) => {
    if (!INSTANCE_ID.test(instanceId)) throw new RangeError(`${instanceId} is not a session instance id`);
    return join(folder, instanceId + ENDING);
  };
  return {
    async put(turn) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // The line before it may be incomplete.
      await appendFile(pathOf(turn.session.instanceId), `\n${JSON.stringify(turn)}\n`, {
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
      const sessions = await Promise.all(
        files.map(async (name) => {
          const turns = readTurns(await readFile(join(folder, name), 'utf8'));
          if (turns.length === 0) await rm(join(folder, name), { force: true });
          return turns;
        }),
      );
      return sessions.filter((turns) => turns.length > 0);
    },
  };
}

/** A crash, or a full disk, may have left a line incomplete. */
function readTurns(text: string): PendingTurn[] {
  return text.split('\n').flatMap((line): PendingTurn[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
