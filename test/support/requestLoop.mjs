import { parentPort, workerData } from 'node:worker_threads';

// A thread that sends each of its requests over and over, until it is told to stop.
let isStopped = false;
parentPort?.once('message', () => {
  isStopped = true;
});
await Promise.all(
  workerData.map(async (/** @type {{ url: string }} */ { url, ...request }) => {
    // A connection that breaks is an answer, too: another attempt follows.
    while (!isStopped)
      await fetch(url, request).then(
        (answer) => answer.arrayBuffer(),
        () => undefined,
      );
  }),
);
process.exit();
