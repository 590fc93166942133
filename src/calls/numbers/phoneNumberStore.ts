import type { Page, PageOf } from '../../base/values/page.ts';
import type { NumberClaim, NumberClaimPatch } from './numberClaim.ts';
import type { PhoneNumber, PhoneNumberInput, PhoneNumberPatch } from './phoneNumber.ts';

/** Tells whether the claim of a number is verified. */
type Verified = Pick<PhoneNumber, 'verified'>;

/** A number with the project that holds it. */
export interface HeldNumber extends PhoneNumber {
  readonly projectId: string;
}

/** Stores and compares normalized numbers. @see normalizeNumber */
export interface PhoneNumberStore {
  /**
   * @throws {CallwayError} 409 `number_taken` while another project holds the number, 400 `phone_number_exists`, 400 for
   *   a trunk id that the project does not have.
   */
  insert(projectId: string, id: string, input: PhoneNumberInput & Verified, at: string): Promise<PhoneNumber>;
  find(projectId: string, id: string): Promise<PhoneNumber | undefined>;
  findByNumber(projectId: string, number: string): Promise<PhoneNumber | undefined>;
  /** Finds the number's holder in any project. */
  findHolder(number: string): Promise<HeldNumber | undefined>;
  /**
   * Returns the numbers that count as the project's: the verified ones, or its pending claims when none is verified.
   */
  ownNumbers(projectId: string): Promise<string[]>;
  list(projectId: string, page: Page): Promise<PageOf<PhoneNumber>>;
  /** @throws {CallwayError} For the same reasons as `insert`. */
  update(
    projectId: string,
    id: string,
    patch: PhoneNumberPatch & Partial<Verified>,
    at: string,
  ): Promise<PhoneNumber | undefined>;
  remove(projectId: string, id: string): Promise<boolean>;
}

/** The numbers of all projects, for the operator. */
export interface NumberClaimStore {
  list(page: Page): Promise<PageOf<NumberClaim>>;
  /**
   * Decides who holds a number. A project that gets it from another one starts with the default settings.
   *
   * @param id - The id of a new claim.
   * @throws {CallwayError} 404 `project_not_found`
   */
  assign(
    number: string,
    patch: NumberClaimPatch,
    id: string,
    at: string,
  ): Promise<{ readonly claim: NumberClaim; readonly formerProjectId: string } | undefined>;
  /** @returns The project that held it; undefined when none did. */
  remove(number: string): Promise<string | undefined>;
}
