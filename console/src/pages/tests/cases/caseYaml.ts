import { parse, stringify } from 'yaml';

import type { CaseInput } from '../testData.ts';

/** What a case has where nothing is said; the text leaves it out. */
const DEFAULTS: Partial<CaseInput> = {
  description: null,
  channel: 'chat',
  persona: null,
  variables: null,
  turns: null,
  toolMocks: [],
  allowRealTools: false,
  phone: null,
  assertions: [],
};

/** As in the files of the command line, without fields at their defaults. */
export function yamlOf(input: CaseInput): string {
  const entries = Object.entries(input).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[field as keyof CaseInput]),
  );
  return stringify(Object.fromEntries(entries));
}

/**
 * The case that the text describes, with the defaults of what it leaves out. The API checks the rest.
 *
 * @returns Undefined where it describes none.
 * @throws {Error} With the line, where the text is no YAML.
 */
export function caseOf(text: string): CaseInput | undefined {
  const value: unknown = parse(text);
  const isCase =
    typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
  return isCase ? ({ ...DEFAULTS, ...value } as CaseInput) : undefined;
}
