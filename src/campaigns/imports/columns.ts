import { RESERVED_VARIABLES, variableName } from '../../agents/fields.ts';
import { zodDetails } from '../../base/validation.ts';
import { DocumentError } from '../../knowledge/parse/block.ts';
import { type ContactInput, contactInput, type SkipReason } from '../contact.ts';
import type { ContactMapping } from './contactImport.ts';

const MAX_VARIABLE_CHARACTERS = 64;
/** Headers that a message names. */
const MAX_NAMED_HEADERS = 20;

/** A row of a file: a contact as given, or why it is none. */
export type GivenRow =
  | { readonly contact: ContactInput }
  | { readonly code: SkipReason; readonly message: string };

/**
 * Reads the header of a file.
 *
 * @param mapping - Headers of the columns; a header is found whatever its case.
 * @returns Reads the cells of a row: empty ones set no variable. Undefined when these cells lack a header of the mapping.
 */
export function readColumns(
  headers: readonly string[],
  mapping: ContactMapping,
): ((cells: readonly string[]) => GivenRow) | undefined {
  const found = Object.entries(mapping).map(([field, header]) => [field, columnOf(headers, header)] as const);
  if (found.some(([, column]) => column < 0)) return undefined;
  const mapped = new Set(found.map(([, column]) => column));
  const variables = variableNames(headers).flatMap((name, column) =>
    name === undefined || mapped.has(column) ? [] : [[name, column] as const],
  );
  return (cells) => {
    const textsOf = (columns: readonly (readonly [string, number])[]) =>
      columns.flatMap(([name, column]) => {
        const text = cells[column]?.trim() ?? '';
        return text === '' ? [] : [[name, text] as const];
      });
    const given = {
      ...Object.fromEntries(textsOf(found)),
      variables: Object.fromEntries(textsOf(variables)),
    };
    const { data, error } = contactInput.safeParse(given);
    if (data) return { contact: data };
    const [{ path, message } = { path: '', message: '' }] = zodDetails(error);
    const code =
      path === '/toNumber' ? 'invalid_number' : path === '/timezone' ? 'bad_timezone' : 'invalid_row';
    return { code, message };
  };
}

/** @param rows - The first rows of a file, none of which is the header. @returns The error that tells what is missing. */
export function missingColumns(rows: readonly (readonly string[])[], mapping: ContactMapping): DocumentError {
  const filled = rows.map((cells) => cells.filter((cell) => cell.trim() !== ''));
  // Titles above the header have fewer cells.
  const headers = filled.reduce((most, cells) => (cells.length > most.length ? cells : most), []);
  const missing = Object.values(mapping).filter((header) => columnOf(headers, header) < 0);
  const named = headers.slice(0, MAX_NAMED_HEADERS).join(', ');
  return new DocumentError(`The file has no column ${missing.join(', ')}; its columns are ${named}`);
}

/** @returns -1 when it is missing. */
function columnOf(headers: readonly string[], wanted: string): number {
  const exact = headers.findIndex((header) => header.trim() === wanted);
  if (exact >= 0) return exact;
  return headers.findIndex((header) => header.trim().toLowerCase() === wanted.toLowerCase());
}

/** The variable of each column; undefined for a column without a header. */
function variableNames(headers: readonly string[]): (string | undefined)[] {
  const used = new Set<string>(RESERVED_VARIABLES);
  return headers.map((header, column) => {
    if (header.trim() === '') return undefined;
    const name = variableNameOf(header.trim()) || `column_${column + 1}`;
    let free = name;
    for (let n = 2; used.has(free); n += 1) free = `${name}_${n}`;
    used.add(free);
    return free;
  });
}

/** A header that is no name of a variable is written in snake_case, in its own script. */
function variableNameOf(header: string): string {
  const name = header.normalize('NFKC');
  if (variableName.safeParse(name).success) return name;
  const words = name
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  const named = words === '' || /^\p{L}/u.test(words) ? words : `_${words}`;
  return [...named].slice(0, MAX_VARIABLE_CHARACTERS).join('');
}
