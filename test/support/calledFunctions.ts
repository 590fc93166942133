import { Session } from 'node:inspector/promises';

export interface FunctionWatch {
  /** The functions that were called since the last time, by file, place and name. */
  take(): Promise<Set<string>>;
  stop(): void;
}

/** Watches which functions this thread calls, in files whose URL matches. */
export async function watchFunctions(files: RegExp): Promise<FunctionWatch> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async take() {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const called = new Set<string>();
      for (const { url, functions } of result) {
        if (!files.test(url)) continue;
        for (const { functionName, ranges } of functions) {
          const [{ count, startOffset } = { count: 0, startOffset: 0 }] = ranges;
          if (count > 0) called.add(`${url}:${startOffset} ${functionName}`);
        }
      }
      return called;
    },
    stop: () => session.disconnect(),
  };
}
