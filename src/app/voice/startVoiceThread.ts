import type { Worker } from 'node:worker_threads';

import { startThread } from '../../base/threads/thread.ts';
import type { VoiceServiceStart } from './voiceService.ts';

/** A thread that reaches its limit dies, and its calls continue on another. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

export function startVoiceThread(workerData: VoiceServiceStart): Worker {
  const module = new URL('./voiceThread.ts', import.meta.url);
  return startThread(module, { workerData, name: workerData.name, resourceLimits: MEMORY_LIMITS });
}
