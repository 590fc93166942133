import type { Page, PageOf } from '../../base/values/page.ts';
import type { Trunk, TrunkInput, TrunkPatch } from './trunk.ts';

type PrivateHost = Pick<Trunk, 'hasPrivateHost'>;

/** Stores passwords encrypted. */
export interface TrunkStore {
  insert(projectId: string, id: string, input: TrunkInput & PrivateHost, at: string): Promise<Trunk>;
  find(projectId: string, id: string): Promise<Trunk | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<Trunk>>;
  update(
    projectId: string,
    id: string,
    patch: TrunkPatch & PrivateHost,
    at: string,
  ): Promise<Trunk | undefined>;
  /** @throws {CallwayError} 409 `trunk_in_use` while a number lists it. */
  remove(projectId: string, id: string): Promise<boolean>;
  /** The `inboundCidrs` of all other projects' trunks. */
  foreignNetworks(projectId: string): Promise<string[]>;
  /** Active trunks of all projects, for registration, health checks and the matching of inbound calls. */
  active(): Promise<Trunk[]>;
  /** Active trunks of one project, oldest first. */
  activeOf(projectId: string): Promise<Trunk[]>;
}
