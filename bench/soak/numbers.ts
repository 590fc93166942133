import type { Sample } from './drift.ts';

const MEGABYTE = 1_000_000;

/** The service's metrics from `/metrics`. @throws When it does not answer. */
export async function numbersOf(url: string): Promise<Omit<Sample, 'atMinutes'>> {
  const answer = await fetch(`${url}/metrics`);
  if (!answer.ok) throw new Error(`/metrics was answered ${answer.status}`);
  return readNumbers(await answer.text());
}

/** @param text - In Prometheus' text format. */
export function readNumbers(text: string): Omit<Sample, 'atMinutes'> {
  const value = (name: string, factor: number) => {
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    const number = Number(found);
    return found === undefined || Number.isNaN(number) ? undefined : number * factor;
  };
  const numbers = {
    rss: value('process_resident_memory_bytes', 1 / MEGABYTE),
    heap: value('nodejs_heap_size_used_bytes', 1 / MEGABYTE),
    descriptors: value('process_open_fds', 1),
    lag: value('nodejs_eventloop_lag_p99_seconds', 1000),
  };
  return Object.fromEntries(Object.entries(numbers).filter(([, number]) => number !== undefined));
}
