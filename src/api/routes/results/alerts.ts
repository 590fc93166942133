import { mapPage } from '../../../base/values/page.ts';
import {
  type Alert,
  alertInput,
  alertPatch,
  alertResource,
  patchAlert,
  requireValidAlert,
  shownAlert,
  withoutSecrets,
} from '../../../results/alerts/alert.ts';
import { crudRoutes } from '../../crud.ts';
import { maySeeSecrets } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';

export function alertRoutes(app: App, deps: HttpDeps): void {
  const { targetPolicy } = deps.agents;
  crudRoutes(app, deps, {
    tag: 'Insights',
    noun: 'alert',
    withArticle: 'an alert',
    path: '/v1/projects/:projectId/alerts',
    idParameter: 'alertId',
    schema: alertResource,
    quota: 'alerts',
    list: {
      async run({ request, stores, projectId }, page) {
        const showsSecrets = maySeeSecrets(request);
        return mapPage(await stores.alerts.list(projectId, page), (one) => shownAlert(one, showsSecrets));
      },
    },
    create: {
      auditAction: 'alert.created',
      description:
        'A metric that is looked at once a minute, over the sessions that ended within the window. Live events `alert.firing` and `alert.resolved` tell when it is beyond its bound. Header values are stored encrypted.',
      body: alertInput,
      async run({ stores, projectId, id, now }, input) {
        requireValidAlert(input, targetPolicy);
        const created: Alert = {
          ...input,
          id,
          projectId,
          state: 'ok',
          since: now,
          lastValue: null,
          calmLooks: 0,
          createdAt: now,
          updatedAt: now,
        };
        await stores.alerts.insert(created);
        return shownAlert(created, true);
      },
      withoutSecrets,
      auditDetails: ({ name }) => ({ name }),
    },
    get: {
      async run({ request, stores, projectId, id }) {
        const found = await stores.alerts.find(projectId, id);
        return found && shownAlert(found, maySeeSecrets(request));
      },
    },
    update: {
      auditAction: 'alert.updated',
      methods: ['PATCH'],
      description:
        'Only the supplied fields change; `filter` and `webhook` as a whole. A new bound replaces the other one. The next look is at once.',
      body: alertPatch,
      async run({ stores, projectId, id, now }, patch) {
        const current = await stores.alerts.find(projectId, id, 'for update');
        if (!current) return undefined;
        const updated = { ...patchAlert(current, patch), updatedAt: now };
        requireValidAlert(updated, targetPolicy);
        await stores.alerts.update(updated);
        return shownAlert(updated, true);
      },
    },
    remove: {
      auditAction: 'alert.deleted',
      description: 'Also while it fires; no event follows.',
      run: ({ stores, projectId, id }) => stores.alerts.remove(projectId, id),
    },
  });
}
