/** Who waits for a piece of work: somebody, or nobody. */
export type Lane = 'foreground' | 'background';

/** Runs `work` once its turn has come. */
export type InTurn = <Result>(lane: Lane, work: () => Promise<Result>) => Promise<Result>;

/**
 * Takes turns at something that one can use at a time, and that holds up this whole thread meanwhile. What somebody
 * waits for goes before what nobody waits for, and between two turns everything else on the thread has one.
 */
export function createPriorityMutex(): InTurn {
  const waiting: Record<Lane, (() => void)[]> = { foreground: [], background: [] };
  let isTaken = false;
  const passOn = () => {
    const next = waiting.foreground.shift() ?? waiting.background.shift();
    if (next) next();
    else isTaken = false;
  };
  return async (lane, work) => {
    if (isTaken) await new Promise<void>((resolve) => waiting[lane].push(resolve));
    isTaken = true;
    try {
      return await work();
    } finally {
      setImmediate(passOn);
    }
  };
}
