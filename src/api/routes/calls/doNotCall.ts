import { parseCarrierNumber } from '../../../base/values/e164.ts';
import {
  type DoNotCallEntry,
  doNotCallAdded,
  doNotCallEntry,
  doNotCallInput,
  type ListOwner,
} from '../../../calls/numbers/doNotCall.ts';
import { requireNumber } from '../../../calls/numbers/number.ts';
import { audit } from '../../audit.ts';
import { type CrudContext, crudRoutes } from '../../crud.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { importStarted, startImport, withForms } from '../campaigns/imports.ts';

const ADMIN: Access = { kind: 'admin' };
const FILES =
  'Or a form with a table in the part `file`, CSV or XLSX, whose column of numbers the part `mapping` names: `{"toNumber": "Phone"}`; the answer is 202 with an `importId`.';

/** The numbers that are not called: each project's list, and the installation's. */
export async function doNotCallRoutes(app: App, deps: HttpDeps): Promise<void> {
  await withForms(app, deps, (scope) => {
    listRoutes(scope, deps, {
      path: '/v1/projects/:projectId/do-not-call',
      allowsAdmin: true,
      whose: 'the project',
      ownerOf: ({ projectId }) => projectId,
    });
    listRoutes(scope, deps, {
      path: '/v1/do-not-call',
      access: ADMIN,
      whose: 'the installation, which holds for every project',
      ownerOf: () => null,
    });
  });
}

interface NumberList {
  readonly path: string;
  readonly access?: Access;
  readonly allowsAdmin?: boolean;
  readonly whose: string;
  readonly ownerOf: (context: CrudContext) => ListOwner;
}

function listRoutes(
  app: App,
  deps: HttpDeps,
  { path, access, allowsAdmin, whose, ownerOf }: NumberList,
): void {
  const listed = (context: CrudContext) => ({
    owner: ownerOf(context),
    // Clients write a number in a path in many notations: without its plus, which some decode as a blank, or with separators.
    number: parseCarrierNumber(context.id) ?? requireNumber(context.id, 'number'),
  });
  crudRoutes(app, deps, {
    tag: 'Do not call',
    noun: 'do-not-call entry',
    path,
    idParameter: 'number',
    schema: doNotCallEntry,
    allowsAdmin,
    list: {
      access,
      summary: 'List the numbers that are not called',
      description: `Of ${whose}, the newest first.`,
      run: (context, page) => context.stores.doNotCall.list(ownerOf(context), page),
    },
    create: {
      access,
      summary: 'Add numbers that are not called',
      description: `To the list of ${whose}. ${FILES} Orders to them are 422 \`do_not_call\`, and calls that wait end as \`canceled\` with \`endReason\` \`do_not_call\`; a call in progress goes on. A transfer to one, and adding it as a participant, is 422 \`do_not_call\`; one that the agent or a peer asks for fails.`,
      body: doNotCallInput,
      schema: doNotCallAdded,
      form: { schema: importStarted, run: (post) => startImport(deps, post, null) },
      async run(context, { numbers, reason }) {
        const { stores, now, request } = context;
        const owner = ownerOf(context);
        const given = numbers.map((number, index) => requireNumber(number, `numbers/${index}`));
        const added = await stores.doNotCall.add(owner, given, { source: 'api', reason, at: now });
        const known = numbers.length - added;
        const change = {
          action: 'do_not_call.added',
          target: 'do-not-call',
          details: { added, known },
        } as const;
        await audit(deps, stores, request, { ...change, projectId: owner });
        return { added, known };
      },
    },
    get: {
      access,
      summary: 'See whether a number is on the list',
      description: `Of ${whose}. 404 where it is not listed. The number of an erased customer stays listed.`,
      run: (context): Promise<DoNotCallEntry | undefined> => {
        const { owner, number } = listed(context);
        return context.stores.doNotCall.find(owner, number);
      },
    },
    remove: {
      access,
      summary: 'Remove a number from the list',
      description: `Of ${whose}.`,
      async run(context) {
        const { owner, number } = listed(context);
        const { stores, request } = context;
        if (!(await stores.doNotCall.remove(owner, number))) return false;
        // The audit log does not name the person.
        const target = deps.sessions.customers.hashOf({ projectId: owner ?? '', key: number });
        await audit(deps, stores, request, { action: 'do_not_call.removed', target, projectId: owner });
        return true;
      },
    },
  });
}
