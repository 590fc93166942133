import { parentPort } from 'node:worker_threads';
import { serveRecordings } from '../../media/recording/recordingWriter.ts';

// The entry of the thread that writes a media thread's recordings.
if (parentPort === null) throw new Error('recordings are written in a worker thread only');
serveRecordings(parentPort);
