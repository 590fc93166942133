const MAX_QUOTE_CHARACTERS = 300;

/** The reason that an endpoint gives for refusing a request. */
export interface Refusal {
  readonly message: string;
  /** The field that it names beside the message, as a path. */
  readonly parameter?: string | undefined;
}

/** A way to send a request without something that a model refuses. */
export interface Remedy<Body> {
  readonly name: string;
  isIn(body: Body): boolean;
  /**
   * Matches the messages of refusals that this remedy helps against; undefined when the refused field's name decides.
   */
  readonly refusal?: RegExp;
  /** Matches refusals of what this request has in the field, which say nothing of the next one. */
  readonly ofRequest?: RegExp;
  /** True when other causes have such refusals too. Fields that a refusal names are then tried first. */
  readonly isVague?: boolean;
  /** True when the remedy is tried for refusals that name no field. */
  readonly isGuessed?: boolean;
  apply(body: Body): Body;
}

export interface RefusalsOptions<Body> {
  readonly remedies: readonly Remedy<Body>[];
  /** Fields that no request goes without. */
  readonly required: readonly string[];
  /** @returns Undefined for a failure that is no refusal. */
  readonly refusalOf: (error: unknown) => Refusal | undefined;
  /** Removes keys from a message. */
  readonly redact: (text: string) => string;
  /** Reports each model and remedy once, after the remedy has helped. */
  readonly onLearned: (fields: { model: string; parameter: string; refusal: string }) => void;
}

interface Learned<Body> {
  readonly remedies: Map<string, Remedy<Body>>;
  /** The names of remedies that the model did not need. */
  readonly accepted: Set<string>;
}

/**
 * Learns what the models of one endpoint refuse. A refused request is sent again without what the refusal names, each
 * remedy once, until the model takes it; what has helped holds for all later requests to that model, unless the refusal was
 * of this one's own schema.
 */
export class Refusals<Body extends { readonly model: string }> {
  readonly #options: RefusalsOptions<Body>;
  readonly #learned = new Map<string, Learned<Body>>();

  constructor(options: RefusalsOptions<Body>) {
    this.#options = options;
  }

  /** @throws The last failure. */
  async send<Answer>(wanted: Body, post: (body: Body) => Promise<Answer>): Promise<Answer> {
    const learned = this.#of(wanted.model);
    const tried = new Map<string, { readonly remedy: Remedy<Body>; readonly refusal: string }>();
    let body = wanted;
    for (const remedy of learned.remedies.values()) if (remedy.isIn(body)) body = remedy.apply(body);
    for (;;) {
      try {
        const answer = await post(body);
        this.#keep(learned, body, tried);
        return answer;
      } catch (error) {
        const refusal = this.#options.refusalOf(error);
        const isOpen = (remedy: Remedy<Body>) => !tried.has(remedy.name) && remedy.isIn(body);
        const remedy = refusal && this.#remedyFor(refusal, body, learned, isOpen);
        if (!remedy) throw error;
        tried.set(remedy.name, { remedy, refusal: refusal.message });
        body = remedy.apply(body);
      }
    }
  }

  #of(model: string): Learned<Body> {
    const learned = this.#learned.get(model) ?? { remedies: new Map(), accepted: new Set() };
    this.#learned.set(model, learned);
    return learned;
  }

  #remedyFor(
    refusal: Refusal,
    body: Body,
    { accepted }: Learned<Body>,
    isOpen: (remedy: Remedy<Body>) => boolean,
  ): Remedy<Body> | undefined {
    const { remedies, required } = this.#options;
    const open = remedies.filter(isOpen);
    const about = open.filter((remedy) =>
      remedy.refusal?.test(`${refusal.parameter ?? ''} ${refusal.message}`),
    );
    const fields = Object.keys(body)
      .filter((field) => !required.includes(field))
      .map((field) => without<Body>(field))
      .filter(isOpen);
    return (
      about.find(({ isVague }) => !isVague) ??
      fields.find(({ name }) => isPathOf(name, refusal.parameter)) ??
      fields.find(({ name }) => isNamedIn(refusal.message, name)) ??
      about[0] ??
      open.find(({ isGuessed, name }) => isGuessed && !accepted.has(name))
    );
  }

  #keep(
    { remedies, accepted }: Learned<Body>,
    body: Body,
    tried: ReadonlyMap<string, { readonly remedy: Remedy<Body>; readonly refusal: string }>,
  ): void {
    for (const { name, isIn } of this.#options.remedies) if (isIn(body)) accepted.add(name);
    for (const [parameter, { remedy, refusal }] of tried) {
      if (remedies.has(parameter) || remedy.ofRequest?.test(refusal)) continue;
      remedies.set(parameter, remedy);
      const { onLearned, redact } = this.#options;
      onLearned({
        model: body.model,
        parameter,
        refusal: redact(refusal).slice(0, MAX_QUOTE_CHARACTERS),
      });
    }
  }
}

/** Leaves a field out. */
export function without<Body extends object>(
  field: string,
  options: Pick<Remedy<Body>, 'refusal' | 'isGuessed'> = {},
): Remedy<Body> {
  return {
    name: field,
    ...options,
    isIn: (body) => Reflect.get(body, field) !== undefined,
    apply: (body) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== field)) as Body,
  };
}

function isPathOf(field: string, path: string | undefined): boolean {
  return path === field || path?.startsWith(`${field}.`) === true || path?.startsWith(`${field}[`) === true;
}

/** Some servers name fields in camel case. A name that is an English word counts in quotes or beside its kind alone. */
function isNamedIn(message: string, field: string): boolean {
  const camelCase = field.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return [field, camelCase].some((name) => {
    const isWord = !/[_A-Z]/.test(name) && name !== 'temperature';
    const quoted = `["'\`]${name}\\\\?["'\`]`;
    const labelled = `(?:parameter|argument|field|property|input|supplied|key)s?:?\\s+${name}\\b|^${name}:`;
    return new RegExp(isWord ? `${quoted}|${labelled}` : `(?<!\\w)${name}(?!\\w)`, 'i').test(message);
  });
}
