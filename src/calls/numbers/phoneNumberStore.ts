import type { Page, PageOf } from '../../base/page.ts';
import type { PhoneNumber, PhoneNumberInput, PhoneNumberPatch } from './phoneNumber.ts';

/** Stores and compares normalized numbers. @see normalizeNumber */
export interface PhoneNumberStore {
  /** @throws {CallwayError} 400 `phone_number_exists`, 400 for a trunk id that the project does not have. */
  insert(projectId: string, id: string, input: PhoneNumberInput, at: string): Promise<PhoneNumber>;
  find(projectId: string, id: string): Promise<PhoneNumber | undefined>;
  findByNumber(projectId: string, number: string): Promise<PhoneNumber | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<PhoneNumber>>;
  update(
    projectId: string,
    id: string,
    patch: PhoneNumberPatch,
    at: string,
  ): Promise<PhoneNumber | undefined>;
  remove(projectId: string, id: string): Promise<boolean>;
}
