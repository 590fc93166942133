import {
  type Declarations,
  override,
  parseDeclarations,
  type StyledElement,
  type StyleSheet,
} from './styleSheet.ts';

type Attributes = Readonly<Record<string, string>>;

/** The properties that an element's children inherit. */
interface Inherited {
  /** Hidden with all that is in it. */
  readonly isGone: boolean;
  readonly isInvisible: boolean;
  readonly hasNoSize: boolean;
  /** The color; undefined when it is not known. */
  readonly color: string | undefined;
  readonly background: string | undefined;
}

const ROOT: Inherited = {
  isGone: false,
  isInvisible: false,
  hasNoSize: false,
  color: '#000000',
  background: '#ffffff',
};
/** Matches positions left of or above the page, at whatever size: by convention, thousands of pixels. */
const OFF_SCREEN = /-\s*\d{3,}(?:\.\d+)?(?:px|em|rem|vw|vh|%|pt|cm)?/;
const ZERO = /^0*(?:\.0+)?(?:px|em|rem|%|pt)?$/;
const COLOR_NAMES: Readonly<Record<string, string>> = { white: '#ffffff', black: '#000000' };

/**
 * Follows the elements that are open, and tells whether a reader sees the text in them: by the `hidden` attribute, by
 * their `style`, and by the page's own style sheets.
 */
export class ElementVisibility {
  readonly #sheet: StyleSheet;
  readonly #knowsColors: boolean;
  readonly #path: StyledElement[] = [];
  readonly #states: Inherited[] = [];

  /** @param knowsColors - False where other style sheets, which are not read, may set backgrounds. */
  constructor(sheet: StyleSheet, knowsColors: boolean) {
    this.#sheet = sheet;
    this.#knowsColors = knowsColors;
  }

  get isVisible(): boolean {
    const { isGone, isInvisible, hasNoSize, color, background } = this.#states.at(-1) ?? ROOT;
    const isUnseen =
      color === 'transparent' || (this.#knowsColors && color !== undefined && color === background);
    return !isGone && !isInvisible && !hasNoSize && !isUnseen;
  }

  open(name: string, attributes: Attributes): void {
    const classes = (attributes.class ?? '').split(/\s+/).filter((one) => one !== '');
    this.#path.push({ name, id: attributes.id ?? '', classes });
    const inherited = this.#states.at(-1) ?? ROOT;
    // Nothing in it comes back.
    if (inherited.isGone) return void this.#states.push(inherited);
    const sheet = this.#sheet.declarationsOf(this.#path);
    const styled = override(hintsOf(name, attributes), sheet);
    const style =
      attributes.style === undefined ? styled : override(styled, parseDeclarations(attributes.style));
    this.#states.push(stateOf(name, attributes, style, inherited));
  }

  close(): void {
    this.#path.pop();
    this.#states.pop();
  }
}

/** Colors as attributes. @see HTML, "presentational hints" */
function hintsOf(name: string, { bgcolor, color, text, background }: Attributes): Declarations {
  const hints: string[] = [];
  if (bgcolor !== undefined) hints.push(`background-color:${bgcolor}`);
  if (background !== undefined) hints.push('background-image:url()');
  if (name === 'font' && color !== undefined) hints.push(`color:${color}`);
  if (name === 'body' && text !== undefined) hints.push(`color:${text}`);
  return parseDeclarations(hints.join(';'));
}

function stateOf(name: string, attributes: Attributes, style: Declarations, inherited: Inherited): Inherited {
  const value = (property: string) => style.get(property)?.value;
  const isHiddenByAttribute =
    attributes.hidden !== undefined || (name === 'dialog' && attributes.open === undefined);
  const display = value('display') ?? (isHiddenByAttribute ? 'none' : undefined);
  const visibility = value('visibility');
  const size = value('font-size');
  return {
    isGone:
      display === 'none' ||
      value('content-visibility') === 'hidden' ||
      ZERO.test(value('opacity') ?? '1') ||
      isOffScreen(value) ||
      isClipped(value),
    isInvisible: visibility === undefined ? inherited.isInvisible : /^(?:hidden|collapse)$/.test(visibility),
    hasNoSize:
      size === undefined || /(?:[^r]em|%)$/.test(size)
        ? inherited.hasNoSize || ZERO.test(size ?? '1')
        : isTiny(size),
    color: value('color') === undefined ? inherited.color : colorOf(value('color')),
    background: backgroundOf(value, inherited.background),
  };
}

function isTiny(size: string): boolean {
  return ZERO.test(size) || (/^\d*\.?\d+(?:px|pt)$/.test(size) && Number.parseFloat(size) < 1.5);
}

type Values = (property: string) => string | undefined;

function isOffScreen(value: Values): boolean {
  const isMoved = /^(?:absolute|fixed|relative)$/.test(value('position') ?? '');
  const offsets = isMoved ? ['left', 'top', 'right', 'bottom'] : [];
  const texts = [...offsets, 'text-indent', 'margin-left', 'margin-top', 'transform'].map(
    (one) => value(one) ?? '',
  );
  return (
    texts.some((text) => OFF_SCREEN.test(text)) ||
    /scale\(\s*0(?:\.0+)?\s*[,)]/.test(value('transform') ?? '')
  );
}

function isClipped(value: Values): boolean {
  if (
    /^rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)$/.test(value('clip') ?? '')
  )
    return true;
  if (/^inset\(\s*(?:50|100)%/.test(value('clip-path') ?? '')) return true;
  const isCut = /hidden|clip/.test(value('overflow') ?? '');
  const isNone = (length = 'auto') => /^[01]?(?:\.0+)?(?:px)?$/.test(length) && length !== '';
  return isCut && ['width', 'height', 'max-width', 'max-height'].some((one) => isNone(value(one)));
}

function backgroundOf(value: Values, inherited: string | undefined): string | undefined {
  const background = value('background-color') ?? value('background');
  const image = value('background-image');
  if (image !== undefined && image !== 'none') return undefined;
  // It lies over something else.
  if (background === undefined && /^(?:absolute|fixed)$/.test(value('position') ?? '')) return undefined;
  if (background === undefined || background === 'transparent' || background === 'none') return inherited;
  return colorOf(background);
}

/** @returns The color as `#rrggbb` or `transparent`; undefined for other notations. */
function colorOf(text = ''): string | undefined {
  const [, short, long] = /^#(?:([\da-f]{3})|([\da-f]{6}))$/.exec(text) ?? [];
  if (long !== undefined) return `#${long}`;
  if (short !== undefined) return `#${[...short].map((digit) => digit + digit).join('')}`;
  const parts = /^rgba?\(([^)]*)\)$/
    .exec(text)?.[1]
    ?.split(/[\s,/]+/)
    .filter((one) => one !== '')
    .map(Number);
  if (parts?.[3] === 0 || text === 'transparent') return 'transparent';
  if (!parts || parts.length < 3 || parts.some(Number.isNaN)) return COLOR_NAMES[text];
  return `#${parts
    .slice(0, 3)
    .map((part) => Math.round(part).toString(16).padStart(2, '0'))
    .join('')}`;
}
