import type { Page, PageOf } from '../../base/page.ts';
import type { Trunk, TrunkInput, TrunkPatch } from './trunk.ts';

/** Passwords are sealed in it. */
export interface TrunkStore {
  insert(projectId: string, id: string, input: TrunkInput, at: string): Promise<Trunk>;
  find(projectId: string, id: string): Promise<Trunk | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<Trunk>>;
  update(projectId: string, id: string, patch: TrunkPatch, at: string): Promise<Trunk | undefined>;
  /** @throws {CallwayError} 409 `trunk_in_use` while a number names it. */
  remove(projectId: string, id: string): Promise<boolean>;
  /** Active trunks of all projects: for registration, health and the matching of what comes in. */
  active(): Promise<Trunk[]>;
  /** Active trunks of one project, oldest first. */
  activeOf(projectId: string): Promise<Trunk[]>;
}
