import { readPages } from '../base/async/readPages.ts';
import { unlessAborted } from '../base/async/unlessAborted.ts';

const KEYS_AT_ONCE = 200;

/** Keys of files whose rows were removed. */
export interface Removals {
  /** The keys in their order. @param after - The last key of the page before. */
  due(limit: number, after?: string): Promise<string[]>;
  done(key: string): Promise<void>;
}

/**
 * Removes the listed files. One that cannot be removed stays on the list, and the others are removed.
 *
 * @param remove - Returns false for a file that is not in this node's reach.
 * @param signal - Ends it at once: a store may not answer. The rest stays on the list.
 */
export async function removeDueFiles(
  removals: Removals,
  remove: (key: string) => Promise<boolean>,
  onError: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const failed = (error: unknown) => {
    if (!signal.aborted) onError(error);
  };
  for await (const keys of readPages<string>(KEYS_AT_ONCE, (limit, after) => removals.due(limit, after)))
    for (const key of keys) {
      if (signal.aborted) return;
      await unlessAborted(removeFile(removals, key, remove), signal).catch(failed);
    }
}

/** Removes a listed file at once. Idempotent. */
export async function removeFile(
  removals: Removals,
  key: string,
  remove: (key: string) => Promise<boolean>,
): Promise<void> {
  if (await remove(key)) await removals.done(key);
}
