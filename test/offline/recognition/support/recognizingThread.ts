/** A thread that recognizes one utterance, as a voice thread or as another. Its program is in `folder`. */
import { constants } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createPocketsphinx } from '../../../../offline/recognition/pocketsphinx.ts';
import { startProcess } from '../../../../src/base/threads/childProcess.ts';
import { setThreadPriority } from '../../../../src/media/engine/threadPriority.ts';

const { folder, isVoice } = workerData as { folder: string; isVoice: boolean };
const isRaised = isVoice && setThreadPriority(constants.priority.PRIORITY_ABOVE_NORMAL);
const pocketsphinx = createPocketsphinx(folder, startProcess);
const utterance = pocketsphinx.open({ isNarrowband: false });
const words = await utterance.finalize(new AbortController().signal);
await pocketsphinx.close();
parentPort?.postMessage({ isRaised, words });
