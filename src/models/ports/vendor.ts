import type { z } from 'zod';
import { languageCode } from '../../base/values/languageCode.ts';

/*
 * The description of a vendor, which `vendors/NAME/vendor.ts` exports. It loads without the vendor's client. Options of a
 * single vendor have the names of the vendor's API.
 */

export interface Vendor {
  /** The address and the name of a vendor whose settings are a key and an address: `NAME_API_KEY`, `NAME_BASE_URL`. */
  readonly service?: { readonly name: string; readonly baseUrl: string };
  readonly recognition?: RecognitionVendor;
  readonly synthesis?: SynthesisVendor;
}

/** The choice of a recognizer's model, as agents and settings make it. */
export interface RecognitionModel {
  readonly model?: string | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

export interface RecognitionVendor {
  /** The default models, which the description of the setting `STT_MODEL` lists. Default: none are listed. */
  readonly models?: readonly string[];
  /** The schema of `options`: any other is refused, since the vendor would ignore it, or refuse each call. */
  options(choice: RecognitionModel): z.ZodType;
  /** The BCP 47 codes of what the model hears when these tags are spoken, as published. Default: any. */
  languages?(model: string | undefined, tags: readonly string[]): ReadonlySet<string> | undefined;
  /** Default: true. */
  takesKeyterms?(choice: RecognitionModel): boolean;
  /** Whether a transcript tells its language. Default: true. */
  tellsLanguages?(choice: RecognitionModel): boolean;
}

export interface SynthesisVendor {
  readonly options: z.ZodType;
  /** A voice speaks one language. */
  readonly isMonolingual?: true;
}

/** The codes of languages, separated by spaces. */
export const languageCodes = (list: string): ReadonlySet<string> => new Set(list.split(' '));

export function hasLanguage(languages: ReadonlySet<string>, tag: string): boolean {
  return languages.has(languageCode(tag));
}
