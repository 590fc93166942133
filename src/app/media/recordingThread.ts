import { constants } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { setThreadPriority } from '../../media/engine/threadPriority.ts';
import { serveRecordings } from '../../media/recording/recordingWriter.ts';

// The entry of the thread that writes a media thread's recordings.
if (parentPort === null) throw new Error('recordings are written in a worker thread only');
// That of the media thread is not for it.
setThreadPriority(constants.priority.PRIORITY_NORMAL);
serveRecordings(parentPort);
