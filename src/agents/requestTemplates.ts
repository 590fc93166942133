import { invalid } from '../base/errors.ts';
import { escapeMarkup } from '../base/values/markup.ts';
import { renderJson } from './pathway/jsonTemplate.ts';
import { wholeText } from './pathway/liquid.ts';
import { type RenderTemplateOptions, renderTemplate, type Variables } from './pathway/templates.ts';

/** A segment that a URL parser removes together with the one before it, RFC 3986 section 5.2.4. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;
const AUTHORITY = /^[a-z]+:\/\/[^/?#]*/i;
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

const percentEncoded = Object.assign(
  (value: unknown) => encodeURIComponent(wholeText(value).toWellFormed()),
  { ownFilters: ['url_encode', 'cgi_escape', 'uri_escape'] },
);

/** The content type of a request that names none. */
export const JSON_TYPE = 'application/json';

/** The way in which the values in a body are escaped, by its content type. */
export type BodyFormat = 'json' | 'form' | 'markup' | 'text';

/**
 * Renders the URL of a tool. Each value is percent-encoded, so that it stays within its path segment or parameter.
 *
 * @throws {CallwayError} `template_error`; `invalid_request` when a segment becomes `.` or `..`.
 */
export function renderUrl(template: string, variables: Variables, options: RenderTemplateOptions): string {
  const url = renderTemplate(template, variables, { ...options, writeOutput: percentEncoded });
  const [path = ''] = url.replace(AUTHORITY, '').split(/[?#]/, 1);
  if (path.split('/').some((segment) => DOT_SEGMENT.test(segment))) {
    throw invalid(
      'invalid_request',
      'a value makes a segment of the path . or .., which leads to another path',
    );
  }
  return url;
}

/** @throws {CallwayError} `template_error`; `invalid_request` when a value does not fit a header. */
export function renderHeader(template: string, variables: Variables, options: RenderTemplateOptions): string {
  const writeOutput = (value: unknown) => {
    const text = wholeText(value);
    if (NOT_IN_HEADERS.test(text)) {
      throw new Error('a value for a header has a line break, or a character outside of Latin-1');
    }
    return text;
  };
  return renderTemplate(template, variables, { ...options, writeOutput });
}

/**
 * Renders the body of a tool's request. JSON is parsed before the values are put in; elsewhere each value is escaped.
 *
 * @throws {CallwayError} `template_error`; `invalid_request` when a body of JSON is none.
 */
export function renderBody(
  template: string,
  format: BodyFormat,
  variables: Variables,
  options: RenderTemplateOptions,
): string {
  switch (format) {
    case 'json':
      return renderJson(template, variables, options);
    case 'form':
      return renderTemplate(template, variables, { ...options, writeOutput: percentEncoded });
    case 'markup':
      return renderTemplate(template, variables, { ...options, writeOutput: withEntities });
    case 'text':
      return renderTemplate(template, variables, options);
  }
}

/** @returns The format; undefined for a type in which values cannot be escaped. */
export function bodyFormatOf(contentType: string): BodyFormat | undefined {
  const [type = ''] = contentType.toLowerCase().split(';', 1);
  const name = type.trim();
  if (name === JSON_TYPE || name.endsWith('+json')) return 'json';
  if (name === 'application/x-www-form-urlencoded') return 'form';
  if (name.endsWith('/xml') || name.endsWith('+xml') || name === 'text/html') return 'markup';
  return name === 'text/plain' ? 'text' : undefined;
}

function withEntities(value: unknown): string {
  return escapeMarkup(wholeText(value));
}
