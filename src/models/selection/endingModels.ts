import type { Clock } from '../../base/values/clock.ts';
import { nearEndOf } from '../ports/modelCatalog.ts';

export interface EndingModelsDeps {
  readonly clock: Clock;
  readonly warn: (message: string, fields: object) => void;
}

/**
 * Warns of models that their vendor ends soon, or has ended, each once. Such a model is still asked: gateways and own
 * servers may go on to serve it.
 *
 * @returns A function to be called with each used model and with the setting that names it, such as
 *   `CHAT_MODEL_TURBO`.
 */
export function createEndingModelWarnings({ clock, warn }: EndingModelsDeps) {
  const checked = new Set<string>();
  return (model: string | undefined, setting: string): void => {
    if (model === undefined || checked.has(model)) return;
    checked.add(model);
    const end = nearEndOf(model, clock.now());
    if (!end) return;
    const message = end.hasEnded ? 'a model has ended at its vendor' : 'a model ends soon at its vendor';
    warn(`${message}: change ${setting}`, { setting, model, ends: end.day });
  };
}
