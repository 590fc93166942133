import { coalesceReads } from '../../base/async/coalesce.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { WidgetTokenStore } from './widgetToken.ts';

/** A removed origin counts this long at most. */
const FRESH_MS = 5_000;
/** Unknown origins read the database no more often. */
const REREAD_MS = 1_000;

/** Tells whether a valid token of the project is for pages of this origin. */
export type AllowsOrigin = (projectId: string, origin: string) => Promise<boolean>;

/**
 * Keeps the origins of all widgets in memory, since preflights have no credential: however many come, they cause one read
 * at a time.
 */
export function rememberWidgetOrigins({ allOrigins }: WidgetTokenStore, clock: Clock): AllowsOrigin {
  let known: ReadonlySet<string> = new Set();
  let readAtMs = Number.NEGATIVE_INFINITY;
  const read = coalesceReads(async () => {
    const startedAtMs = clock.monotonicMs();
    const origins = await allOrigins(new Date(clock.now()));
    known = new Set(origins.map(({ projectId, origin }) => nameOf(projectId, origin)));
    readAtMs = startedAtMs;
  });
  return async (projectId, origin) => {
    const name = nameOf(projectId, origin);
    const isKnown = () => known.has(name);
    const ageMs = clock.monotonicMs() - readAtMs;
    if (ageMs >= (isKnown() ? FRESH_MS : REREAD_MS)) await read('');
    return isKnown();
  };
}

const nameOf = (projectId: string, origin: string) => `${projectId} ${origin}`;
