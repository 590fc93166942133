/**
 * Moves an agent to its next configuration. Leaving `published` freezes what was live; coming back thaws it.
 *
 * ```
 *   draft, never published ──publish──▶ published ──draft──▶ draft, frozen
 *   (callers: working copy)             (working copy)       (callers: the frozen release)
 *                                            ▲──────publish──────┘
 * ```
 *
 * @param live - The release as callers get it now; asked for only when it has to be frozen.
 */
export function nextRecord(record, config, live) {
  if (config.status === 'published') return { config, frozen: null };
  if (record.config.status === 'published') return { config, frozen: live() };
  return { config, frozen: record.frozen };
}
