import type { DocumentFiles } from '../../../knowledge/files.ts';

/**
 * Documents after a change of their location in the settings: new ones are written to the new location; existing ones
 * are read from the old one as well.
 */
export function documentsWithFallback(place: DocumentFiles, before: DocumentFiles): DocumentFiles {
  return {
    write: (key, source) => place.write(key, source),
    async checkOut(key) {
      try {
        return await place.checkOut(key);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return await before.checkOut(key);
      }
    },
    async remove(key) {
      const removed = await Promise.all([place.remove(key), before.remove(key)]);
      return removed.includes(true);
    },
  };
}
