import { randomUUID } from 'node:crypto';
import { invalid } from '../../base/errors.ts';
import { wholeText } from './liquid.ts';
import { MAX_JSON_DEPTH } from './schema/fields.ts';
import { type RenderTemplateOptions, renderTemplate, type Variables } from './templates.ts';

/** Precedes the index of a mark that stands outside of a string. */
const BARE = 'bare';

/** The places of values in a rendered text. */
interface Marks {
  readonly values: unknown[];
  /** A mark is `<prefix><index>~`; the prefix is random, so that no text contains it by chance or by intent. */
  readonly prefix: string;
}

/**
 * Renders a template of JSON. The author's text is parsed with marks in place of the values, which are put in
 * afterwards: whatever a value contains, it stays one value.
 *
 * An output that is a whole string, or stands outside of one, becomes the value itself, with its type; within a longer
 * string it becomes text. A missing variable is `""` inside of quotes and `null` outside.
 *
 * @throws {CallwayError} `template_error`; `invalid_request` when the template does not make JSON, or a name twice.
 */
export function renderJson(
  template: string,
  variables: Variables,
  options: RenderTemplateOptions = {},
): string {
  const marks: Marks = { values: [], prefix: `~${randomUUID()}~` };
  const writeOutput = Object.assign((value: unknown) => `${marks.prefix}${marks.values.push(value) - 1}~`, {
    ownFilters: ['json', 'jsonify'],
  });
  const text = renderTemplate(template, variables, { ...options, writeOutput });
  return JSON.stringify(withValues(parse(quoteLoneMarks(text, marks)), marks, 0));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('invalid_request', 'the body is sent as JSON, but its template does not make JSON');
  }
}

/** Puts marks outside of strings in quotes, so that the text is JSON; {@link BARE} tells them from the others. */
function quoteLoneMarks(text: string, { prefix }: Marks): string {
  let quoted = '';
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    if (!isInString && text.startsWith(prefix, at)) {
      const end = text.indexOf('~', at + prefix.length) + 1;
      quoted += `"${prefix}${BARE}${text.slice(at + prefix.length, end)}"`;
      at = end - 1;
      continue;
    }
    const character = text.charAt(at);
    if (character === '"') isInString = !isInString;
    quoted += character;
    if (isInString && character === '\\') quoted += text.charAt(++at);
  }
  return quoted;
}

function withValues(value: unknown, marks: Marks, depth: number): unknown {
  if (typeof value === 'string') return withValue(value, marks);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_JSON_DEPTH) {
    throw invalid('invalid_request', `the body is nested more than ${MAX_JSON_DEPTH} levels deep`);
  }
  if (Array.isArray(value)) return value.map((entry) => withValues(entry, marks, depth + 1));
  const entries = Object.entries(value).map(([key, entry]): [string, unknown] => [
    wholeText(withValue(key, marks)),
    withValues(entry, marks, depth + 1),
  ]);
  if (new Set(entries.map(([key]) => key)).size < entries.length) {
    throw invalid('invalid_request', 'a value makes a name in the body the same as another one');
  }
  return Object.fromEntries(entries);
}

/** A string that is one mark becomes the value, with its type; marks in a longer one become text. */
function withValue(text: string, { values, prefix }: Marks): unknown {
  const [before = '', ...pieces] = text.split(prefix);
  if (pieces.length === 0) return text;
  const [first = ''] = pieces;
  if (first.startsWith(BARE)) return values[Number(first.slice(BARE.length, -1))] ?? null;
  if (before === '' && pieces.length === 1 && first.indexOf('~') === first.length - 1) {
    const value = values[Number(first.slice(0, -1))];
    return value === undefined ? '' : value;
  }
  const rest = pieces.map((piece) => {
    const end = piece.indexOf('~');
    return wholeText(values[Number(piece.slice(0, end))]) + piece.slice(end + 1);
  });
  return before + rest.join('');
}
