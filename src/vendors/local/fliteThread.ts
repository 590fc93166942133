import { parentPort } from 'node:worker_threads';
import type { FlitePart } from '../../../offline/synthesis/flite.ts';
import { synthesizePart } from '../../../offline/synthesis/fliteProgram.ts';
import { serveThread } from '../../base/threads/watchedThread.ts';

export interface FliteMethods {
  synthesize(part: FlitePart): Int16Array;
}

// The entry of a thread that synthesizes speech.
if (parentPort) serveThread(parentPort, { synthesize: synthesizePart } satisfies FliteMethods);
