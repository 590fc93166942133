import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import type { AuditAction } from '../agents/accounts/audit.ts';
import { type CountedQuota, requireQuota } from '../agents/accounts/quotas.ts';
import { CallwayError, invalid, notFound } from '../base/errors.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import type { Page, PageOf } from '../base/values/page.ts';
import { audit } from './audit.ts';
import { idempotent } from './idempotency.ts';
import type { Access } from './plugins/accessControl.ts';
import type { App, HttpDeps, Stores } from './ports.ts';
import { about, type ErrorStatus, errors, listOf, listResponse, noContent, pageQuery } from './schemas.ts';
import type { Tag } from './tags.ts';

/** The longest item as JSON. A list shows 200 of them, which must not hold up other projects. */
const MAX_ITEM_CHARACTERS = 65_536;

/** One request for a resource. */
export interface CrudContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The stores; in create, update and delete those of the transaction. */
  readonly stores: Stores;
  readonly projectId: string;
  /** The id from the path; for create, a new one. */
  readonly id: string;
  /** ISO 8601. */
  readonly now: string;
}

interface Operation {
  readonly access?: Access;
  readonly summary?: string;
  readonly description?: string;
  readonly errors?: readonly ErrorStatus[];
  readonly headers?: z.ZodObject;
}

interface Change extends Operation {
  /** The action in the audit log; undefined when the change is not logged. */
  readonly auditAction?: AuditAction;
}

/** Details of an audit log entry. */
type Details = Record<string, unknown>;

/** Runs after the commit. @returns The item as it is then. */
type OnSaved<Item> = (saved: Item, projectId: string) => Promise<Item>;

/**
 * A kind of thing that belongs to a project, and its routes. An operation that is left out has no route.
 *
 * `Item` is what the API shows. A `run` that returns undefined means 404 `<noun>_not_found`.
 */
export interface Resource<Item extends object, Created extends object, Input, Patch, Removed> {
  /** Group in the OpenAPI document. */
  readonly tag: Tag;
  /** Singular, lower case: `phone number`. */
  readonly noun: string;
  /** Default: `a` and the noun. */
  readonly withArticle?: string;
  /** Path of the list. */
  readonly path: string;
  /** Name of the path parameter with an item's id. */
  readonly idParameter: string;
  readonly schema: z.ZodType<Item>;
  /** The admin token is accepted, too, where an operation has no access of its own. */
  readonly allowsAdmin?: boolean;
  /** Limits how many of them a project has. */
  readonly quota?: CountedQuota;
  /** Runs after a committed change. */
  readonly onChanged?: () => Promise<void>;
  readonly list: Operation & {
    /** The schema of one entry. Default: the resource's. */
    readonly schema?: z.ZodType;
    run(context: CrudContext, page: Page): Promise<PageOf<object>>;
  };
  readonly create: Change & {
    readonly body: z.ZodType<Input>;
    /** Default: the resource's. */
    readonly schema?: z.ZodType;
    /** Runs before the transaction, which nothing slow may hold open. */
    prepare?(context: CrudContext, input: Input): Promise<void>;
    run(context: CrudContext, input: Input): Promise<Created>;
    /** Removes secrets from the response that is stored for repetitions. */
    withoutSecrets?(created: Created): unknown;
    /** Stands after `run`, from which TypeScript infers `Created`. */
    auditDetails?(created: Created): Details;
    onSaved?: OnSaved<Created>;
    /** Takes a form with a file in place of JSON, and is answered 202, where the scope accepts forms. */
    readonly form?: {
      readonly schema: z.ZodType;
      run(post: { readonly request: FastifyRequest; readonly reply: FastifyReply }): Promise<object>;
    };
  };
  readonly get?: Operation & {
    run(context: CrudContext): Promise<Item | undefined>;
  };
  readonly update?: Change & {
    readonly methods: readonly ('PUT' | 'PATCH')[];
    readonly body: z.ZodType<Patch>;
    /** Runs before the transaction, which nothing slow may hold open. */
    prepare?(context: CrudContext, patch: Patch): Promise<void>;
    run(context: CrudContext, patch: Patch): Promise<Item | undefined>;
    /** Default: the names of the changed fields, as `changed`. */
    auditDetails?(patch: Patch): Details;
    onSaved?: OnSaved<Item>;
  };
  readonly remove: Change & {
    /** Runs before the transaction. */
    prepare?(context: CrudContext): Promise<void>;
    /** @returns The item for `onRemoved`; undefined or false when there is no such item. */
    run(context: CrudContext): Promise<Removed | undefined | false>;
    auditDetails?(removed: Removed): Details;
    /** Runs after the commit. */
    onRemoved?(removed: Removed): Promise<void>;
  };
}

/** Adds the routes of a resource: list, create, get, update and delete. */
export function crudRoutes<Item extends object, Created extends object, Input, Patch, Removed>(
  app: App,
  deps: HttpDeps,
  resource: Resource<Item, Created, Input, Patch, Removed>,
): void {
  new CrudRoutes(app, deps, resource).register();
}

class CrudRoutes<Item extends object, Created extends object, Input, Patch, Removed> {
  readonly #app: App;
  readonly #deps: HttpDeps;
  readonly #resource: Resource<Item, Created, Input, Patch, Removed>;
  readonly #schema: z.ZodType;
  readonly #itemPath: string;
  readonly #withArticle: string;

  constructor(app: App, deps: HttpDeps, resource: Resource<Item, Created, Input, Patch, Removed>) {
    this.#app = app;
    this.#deps = deps;
    this.#resource = resource;
    this.#schema = resource.schema;
    this.#itemPath = `${resource.path}/:${resource.idParameter}`;
    this.#withArticle = resource.withArticle ?? `a ${resource.noun}`;
  }

  register(): void {
    this.#list();
    this.#create();
    this.#get();
    this.#update();
    this.#remove();
  }

  #list(): void {
    const { list, noun, path } = this.#resource;
    this.#app.get(
      path,
      {
        config: { access: list.access ?? this.#access('read'), isSearch: true },
        preHandler: this.#requireProject,
        schema: {
          ...this.#about(list, `List the ${noun}s`),
          params: paramsOf(path),
          querystring: pageQuery,
          response: { 200: listOf(list.schema ?? this.#schema), ...errors(...(list.errors ?? [])) },
        },
      },
      async (request, reply) => {
        const page = await list.run(this.#context(request, reply, this.#deps.storage.stores), request.query);
        return listResponse(page, request.query);
      },
    );
  }

  #create(): void {
    const { create, path, quota, onChanged } = this.#resource;
    this.#app.post(
      path,
      {
        config: { access: create.access ?? this.#access('write') },
        preHandler: this.#requireProject,
        schema: {
          ...this.#about(create, `Create ${this.#withArticle}`),
          params: paramsOf(path),
          body: create.body,
          response: {
            201: create.schema ?? this.#schema,
            ...(create.form && { 202: create.form.schema }),
            ...errors('body', 409, ...(create.errors ?? [])),
          },
        },
      },
      async (request, reply) => {
        if (create.form && request.isMultipart()) return await create.form.run({ request, reply });
        if (create.form && !request.body)
          throw invalid('invalid_request', 'Send JSON, or a form with a file');
        const post = { request, reply, status: 201, withoutSecrets: create.withoutSecrets };
        const input = request.body as Input;
        await create.prepare?.(this.#context(request, reply, this.#deps.storage.stores), input);
        const created = await idempotent(this.#deps, post, async (stores) => {
          const context = this.#context(request, reply, stores, this.#deps.makeId());
          if (quota) await requireQuota(stores, context.projectId, quota);
          const item = await create.run(context, input);
          requireListable(item);
          await this.#audit(context, create.auditAction, create.auditDetails?.(item));
          return item;
        });
        await onChanged?.();
        const { projectId } = this.#context(request, reply, this.#deps.storage.stores);
        return (await create.onSaved?.(created, projectId)) ?? created;
      },
    );
  }

  #get(): void {
    const { get } = this.#resource;
    if (!get) return;
    this.#app.get(
      this.#itemPath,
      {
        config: { access: get.access ?? this.#access('read') },
        preHandler: this.#requireProject,
        schema: {
          ...this.#about(get, `Get ${this.#withArticle}`),
          params: paramsOf(this.#itemPath),
          response: { 200: this.#schema, ...errors(...(get.errors ?? [])) },
        },
      },
      async (request, reply) =>
        (await get.run(this.#context(request, reply, this.#deps.storage.stores))) ?? this.#fail(),
    );
  }

  #update(): void {
    const { update, onChanged } = this.#resource;
    for (const method of update?.methods ?? []) {
      if (!update) return;
      this.#app.route({
        method,
        url: this.#itemPath,
        config: { access: update.access ?? this.#access('write') },
        preHandler: this.#requireProject,
        schema: {
          ...this.#about(update, `Update ${this.#withArticle}`),
          params: paramsOf(this.#itemPath),
          body: update.body,
          response: { 200: this.#schema, ...errors('body', ...(update.errors ?? [])) },
        },
        handler: async (request, reply) => {
          const patch = request.body as Patch;
          await update.prepare?.(this.#context(request, reply, this.#deps.storage.stores), patch);
          const updated = await this.#deps.storage.transaction(async (stores) => {
            const context = this.#context(request, reply, stores);
            const item = (await update.run(context, patch)) ?? this.#fail();
            requireListable(item);
            const details = update.auditDetails?.(patch) ?? { changed: Object.keys(request.body as object) };
            await this.#audit(context, update.auditAction, details);
            return item;
          });
          await onChanged?.();
          const { projectId } = this.#context(request, reply, this.#deps.storage.stores);
          return (await update.onSaved?.(updated, projectId)) ?? updated;
        },
      });
    }
  }

  #remove(): void {
    const { remove, onChanged } = this.#resource;
    this.#app.delete(
      this.#itemPath,
      {
        config: { access: remove.access ?? this.#access('write') },
        preHandler: this.#requireProject,
        schema: {
          ...this.#about(remove, `Delete ${this.#withArticle}`),
          params: paramsOf(this.#itemPath),
          response: { 204: noContent, ...errors(...(remove.errors ?? [])) },
        },
      },
      async (request, reply) => {
        await remove.prepare?.(this.#context(request, reply, this.#deps.storage.stores));
        const removed = await this.#deps.storage.transaction(async (stores) => {
          const context = this.#context(request, reply, stores);
          const result = await remove.run(context);
          if (result === undefined || result === false) return this.#fail();
          await this.#audit(context, remove.auditAction, remove.auditDetails?.(result));
          return result;
        });
        await remove.onRemoved?.(removed);
        await onChanged?.();
        return await reply.code(204).send(null);
      },
    );
  }

  /** The admin token opens every path; a key only that of its own project. */
  readonly #requireProject = async ({ principal, params }: FastifyRequest): Promise<void> => {
    const { projectId } = params as Record<string, string>;
    if (!this.#resource.allowsAdmin || principal?.kind !== 'admin' || projectId === undefined) return;
    if (!(await this.#deps.storage.stores.projects.find(projectId))) throw notFound('Project');
  };

  #access(scope: 'read' | 'write'): Access {
    return { kind: 'project', scope, admin: this.#resource.allowsAdmin ? true : undefined };
  }

  #about(operation: Operation, defaultSummary: string) {
    const { summary = defaultSummary, description, headers } = operation;
    return { ...about(this.#resource.tag, summary, description), ...omitUndefined({ headers }) };
  }

  #context(request: FastifyRequest, reply: FastifyReply, stores: Stores, newId?: string): CrudContext {
    const params = request.params as Record<string, string>;
    const id = newId ?? params[this.#resource.idParameter] ?? '';
    const now = new Date(this.#deps.clock.now()).toISOString();
    // A project is a resource too: its own id is the project's.
    return { request, reply, stores, projectId: params.projectId ?? id, id, now };
  }

  async #audit(
    { stores, request, projectId, id }: CrudContext,
    action: AuditAction | undefined,
    details: Details = {},
  ): Promise<void> {
    if (action === undefined) return;
    await audit(this.#deps, stores, request, { action, projectId, target: id, details });
  }

  #fail(): never {
    const { noun } = this.#resource;
    throw notFound(noun.charAt(0).toUpperCase() + noun.slice(1));
  }
}

/** @throws {CallwayError} 413 `item_too_large` */
export function requireListable(item: object): void {
  const { length } = JSON.stringify(item);
  if (length <= MAX_ITEM_CHARACTERS) return;
  const message = `This would have ${length} characters as JSON; at most ${MAX_ITEM_CHARACTERS} are allowed`;
  throw new CallwayError('too_large', 'item_too_large', message);
}

/** The schema of a path's parameters. */
function paramsOf(path: string) {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
}
