/** Value of each property that matters, by its name in lower case. */
export type Declarations = ReadonlyMap<string, { readonly value: string; readonly isImportant: boolean }>;

/** An element as selectors see it. */
export interface StyledElement {
  readonly name: string;
  readonly id: string;
  readonly classes: readonly string[];
}

/** The properties that a page's own style sheets give an element. */
export interface StyleSheet {
  /** @param path - The element, after those that it is in, outermost first. */
  declarationsOf(path: readonly StyledElement[]): Declarations;
}

interface Compound extends StyledElement {
  /** Whether what is before it must be its parent, not just any ancestor. */
  readonly isChild: boolean;
}

interface Rule {
  readonly compounds: readonly Compound[];
  readonly declarations: Declarations;
  readonly specificity: number;
  readonly order: number;
}

/** Matches at-rules whose rules hold for every reader on a screen. */
const UNCONDITIONAL = /^@(?:media\s+(?:only\s+)?(?:screen|all)\s*$|supports|layer)/i;
/** Matches one element of a selector; others, such as with `:hover`, do not tell how the page is first seen. */
const COMPOUND = /^([a-z][\w-]*|\*)?((?:[.#][\w-]+)*)$/i;
/** Properties by which text can be hidden. */
const PROPERTIES = new Set(
  'display visibility content-visibility opacity font-size position left top right bottom text-indent margin-left margin-top transform clip clip-path overflow width height max-width max-height color background background-color background-image'.split(
    ' ',
  ),
);
const NONE: Declarations = new Map();

/** @param css - Text of all style sheets, in order. */
export function parseStyleSheet(css: string): StyleSheet {
  const rules = rulesOf(css.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' '));
  /** The rules by the id, class or name that an element must have. */
  const byKey = new Map<string, Rule[]>();
  for (const rule of rules) {
    const last = rule.compounds.at(-1);
    if (!last) continue;
    const known = byKey.get(keyOf(last));
    if (known) known.push(rule);
    else byKey.set(keyOf(last), [rule]);
  }
  return {
    declarationsOf(path) {
      const element = path.at(-1);
      if (!element || byKey.size === 0) return NONE;
      const keys = ['*', element.name, `#${element.id}`, ...element.classes.map((name) => `.${name}`)];
      const matching = keys.flatMap((key) => byKey.get(key) ?? []).filter((rule) => matches(rule, path));
      matching.sort((a, b) => a.specificity - b.specificity || a.order - b.order);
      return matching.reduce((all, { declarations }) => override(all, declarations), NONE);
    },
  };
}

/** Reads `name: value; …`, as in a `style` attribute; the properties that can hide text. */
export function parseDeclarations(text: string): Declarations {
  return new Map(
    text.split(';').flatMap((one) => {
      const at = one.indexOf(':');
      const name = one.slice(0, Math.max(0, at)).trim().toLowerCase();
      if (!PROPERTIES.has(name)) return [];
      const isImportant = /!\s*important\s*$/i.test(one);
      const value = one
        .slice(at + 1)
        .replace(/!\s*important\s*$/i, '')
        .trim()
        .toLowerCase();
      return [[name, { value, isImportant }] as const];
    }),
  );
}

/** @returns `base` with what `later` says, except what is important only in `base`. */
export function override(base: Declarations, later: Declarations): Declarations {
  const all = new Map(base);
  for (const [name, one] of later) if (!all.get(name)?.isImportant || one.isImportant) all.set(name, one);
  return all;
}

function rulesOf(css: string): Rule[] {
  const rules: Rule[] = [];
  /** Whether the rules within each open at-rule hold. */
  const open: boolean[] = [];
  for (let at = 0; at < css.length; ) {
    const next = css.slice(at).search(/[{}]/);
    if (next < 0) break;
    const prelude = css
      .slice(at, at + next)
      .replace(/^[\s\S]*;/, '')
      .trim();
    at += next + 1;
    if (css[at - 1] === '}') open.pop();
    else if (prelude.startsWith('@')) open.push(UNCONDITIONAL.test(prelude));
    else {
      const end = css.indexOf('}', at);
      const declarations = parseDeclarations(css.slice(at, end < 0 ? undefined : end));
      if (declarations.size > 0 && !open.includes(false))
        rules.push(...ruleOf(prelude, declarations, rules.length));
      at = end < 0 ? css.length : end + 1;
    }
  }
  return rules;
}

function ruleOf(selectors: string, declarations: Declarations, order: number): Rule[] {
  return selectors.split(',').flatMap((selector) => {
    const compounds = compoundsOf(selector);
    if (!compounds) return [];
    const specificity = compounds.reduce(
      (sum, { id, classes, name }) => sum + (id ? 1e6 : 0) + classes.length * 1e3 + (name === '*' ? 0 : 1),
      0,
    );
    return [{ compounds, declarations, specificity, order }];
  });
}

/** @returns The compound selectors; undefined for selectors that are not understood. */
function compoundsOf(selector: string): Compound[] | undefined {
  const compounds: Compound[] = [];
  let isChild = false;
  for (const part of selector.replace(/>/g, ' > ').trim().split(/\s+/)) {
    if (part === '>') {
      isChild = true;
      continue;
    }
    const [, name = '*', marks = ''] = COMPOUND.exec(part) ?? [];
    if (part === '' || !COMPOUND.test(part)) return undefined;
    const ids = marks.match(/#[\w-]+/g) ?? [];
    const classes = (marks.match(/\.[\w-]+/g) ?? []).map((one) => one.slice(1));
    compounds.push({ name: name.toLowerCase(), id: ids[0]?.slice(1) ?? '', classes, isChild });
    isChild = false;
  }
  return compounds;
}

function keyOf({ id, classes: [first], name }: Compound): string {
  return id ? `#${id}` : first === undefined ? name : `.${first}`;
}

function matches({ compounds }: Rule, path: readonly StyledElement[]): boolean {
  let depth = path.length - 1;
  for (let index = compounds.length - 1; index >= 0; index -= 1) {
    const compound = compounds[index];
    const mustBeHere = index === compounds.length - 1 || compounds[index + 1]?.isChild;
    if (!compound) return false;
    while (depth >= 0 && !mustBeHere && !fits(compound, path[depth])) depth -= 1;
    if (!fits(compound, path[depth])) return false;
    depth -= 1;
  }
  return true;
}

function fits({ name, id, classes }: Compound, element: StyledElement | undefined): boolean {
  if (!element || (name !== '*' && name !== element.name) || (id !== '' && id !== element.id)) return false;
  return classes.every((one) => element.classes.includes(one));
}
