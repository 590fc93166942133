import type { Page, PageOf } from '../../base/values/page.ts';
import type { Alert } from './alert.ts';

export interface AlertStore {
  /** It is due for its first look at once. */
  insert(alert: Alert): Promise<void>;
  find(projectId: string, id: string, lock?: 'for update'): Promise<Alert | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<Alert>>;
  /** Saves what its user has changed. It is due for a look at once. */
  update(alert: Alert): Promise<void>;
  remove(projectId: string, id: string): Promise<boolean>;
  /** Saves what a look has found. @returns False where the alert was changed since, or another node has looked. */
  saveLook(before: Alert, after: Alert): Promise<boolean>;
}
