import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { TextItem } from './visibleText.ts';

/** The left, bottom, right and top edges in points. */
type Rectangle = readonly [number, number, number, number];

/** A text that a reader sees on a page besides the page's own text. */
export interface Note {
  /** A form field is filled or ticked; a note stands for itself. */
  readonly kind: 'filled' | 'ticked' | 'note';
  readonly text: string;
  /** The name of a form field, for readers or for programs. */
  readonly name: string;
  readonly place: Rectangle;
}

interface Beside {
  before?: string;
  after?: string;
}

/** Annotation flags Hidden and NoView. @see ISO 32000-1 table 165 */
const UNSEEN_FLAGS = 2 | 32;
/** Links have no text, and a popup has that of its note. */
const WITHOUT_TEXT = new Set(['Link', 'Popup']);
/** A label may overlap its field a little, and stands above it at most this far away. */
const OVERLAP = 5;
const LABEL_ABOVE = 18;

/** Form values, comments and free text. */
export async function pageNotes(page: PDFPageProxy): Promise<Note[]> {
  return (await page.getAnnotations()).flatMap((annotation): Note[] => {
    const { annotationFlags, rect, subtype, contentsObj, alternativeText, fieldName } = annotation;
    const [left, bottom, right, top] = rect as Rectangle;
    if (annotationFlags & UNSEEN_FLAGS || right <= left || top <= bottom || WITHOUT_TEXT.has(subtype))
      return [];
    const place: Rectangle = [left, bottom, right, top];
    const name = String(alternativeText || fieldName || '');
    if (subtype !== 'Widget') return noteOf(String(contentsObj?.str ?? ''), { kind: 'note', name, place });
    const { checkBox, radioButton, fieldValue, exportValue, buttonValue, password } = annotation;
    if (checkBox || radioButton) {
      const text = fieldValue === (checkBox ? exportValue : buttonValue) ? '[x]' : '[ ]';
      return [{ kind: 'ticked', text, name, place }];
    }
    return password ? [] : noteOf(choiceOrText(annotation), { kind: 'filled', name, place });
  });
}

/**
 * Finds the text that each note belongs to: a field's label is on its left, or above it; that of a box on its right.
 *
 * @returns The text notes that stand beside a text, and as paragraphs those without a place.
 */
export function placeNotes(notes: readonly Note[], texts: readonly TextItem[]) {
  const beside = new Map<TextItem, Beside>();
  const others: string[] = [];
  const labels = texts.filter(({ str }) => str.trim() !== '');
  for (const { kind, text, name, place } of notes) {
    const right = kind === 'ticked' ? nearest(labels, (label) => distanceRight(label, place)) : undefined;
    const label = right ?? (kind === 'note' ? undefined : nearest(labels, (one) => distanceLeft(one, place)));
    if (!label) others.push(kind === 'note' || name === '' ? text : `${name}: ${text}`);
    else {
      const around = beside.get(label) ?? {};
      if (right) around.before = `${around.before ?? ''}${text} `;
      else around.after = `${around.after ?? ''} ${text}`;
      beside.set(label, around);
    }
  }
  return { beside, others };
}

function noteOf(text: string, rest: Omit<Note, 'text'>): Note[] {
  return text.trim() === '' ? [] : [{ ...rest, text }];
}

/** The text of a field; of a choice, what readers see of it. */
function choiceOrText({ fieldValue, options }: { fieldValue?: unknown; options?: unknown }): string {
  const choices = Array.isArray(options) ? (options as { exportValue: string; displayValue: string }[]) : [];
  return [fieldValue]
    .flat()
    .filter((value) => typeof value === 'string')
    .map((value) => choices.find(({ exportValue }) => exportValue === value)?.displayValue ?? value)
    .join(', ');
}

function nearest(
  labels: readonly TextItem[],
  distanceOf: (label: TextItem) => number | undefined,
): TextItem | undefined {
  let best: { readonly label: TextItem; readonly distance: number } | undefined;
  for (const label of labels) {
    const distance = distanceOf(label);
    if (distance !== undefined && (!best || distance < best.distance)) best = { label, distance };
  }
  return best?.label;
}

function distanceRight({ transform: [, , , , x, y] }: TextItem, [, bottom, right, top]: Rectangle) {
  const isBeside = y > bottom - OVERLAP && y < top && x > right - OVERLAP;
  return isBeside ? x - right : undefined;
}

function distanceLeft(
  { transform: [, , , , x, y], width }: TextItem,
  [left, bottom, right, top]: Rectangle,
): number | undefined {
  const isBeside = y > bottom - OVERLAP && y < top && x + width < left + OVERLAP;
  if (isBeside) return left - x - width;
  const isAbove = y >= top - OVERLAP && y < top + LABEL_ABOVE && x < right && x + width > left;
  // A label on the left goes before one above.
  return isAbove ? 1_000 + y - top : undefined;
}
