import type { Scope } from '../agents/accounts/apiKey.ts';
import type { Access } from './plugins/accessControl.ts';

/** A route that has a legacy path beside its /v1 path. */
export interface LegacyPath {
  readonly legacy: string;
  readonly v1: string;
  readonly scope: Scope;
}

/** What differs between the two registrations of a route. */
export interface PathSettings {
  readonly url: string;
  readonly config: { readonly access: Access; readonly successor?: string };
  /** Marks the path in the OpenAPI document. */
  readonly mark: { readonly deprecated?: true };
}

/** Routes with the same handler, body and response on both paths. */
export const LEGACY_PATHS = {
  chat: {
    legacy: '/project/:projectId/chat/completions',
    v1: '/v1/projects/:projectId/chat/completions',
    scope: 'write',
  },
  createSession: {
    legacy: '/project/:projectId/session',
    v1: '/v1/projects/:projectId/sessions',
    scope: 'write',
  },
  endSession: {
    legacy: '/project/:projectId/session',
    v1: '/v1/projects/:projectId/sessions',
    scope: 'write',
  },
  getSession: {
    legacy: '/project/:projectId/session/:sessionId',
    v1: '/v1/projects/:projectId/sessions/:sessionId',
    scope: 'read',
  },
  searchSessions: {
    legacy: '/project/:projectId/session/search',
    v1: '/v1/projects/:projectId/sessions/search',
    scope: 'read',
  },
  models: { legacy: '/project/:projectId/models', v1: '/v1/projects/:projectId/models', scope: 'read' },
  model: {
    legacy: '/project/:projectId/models/:model',
    v1: '/v1/projects/:projectId/models/:model',
    scope: 'read',
  },
} as const satisfies Record<string, LegacyPath>;

/** Registers a route on its /v1 path and on its legacy path, which announces the other. */
export function onBothPaths({ legacy, v1, scope }: LegacyPath, register: (path: PathSettings) => void): void {
  register({ url: v1, config: { access: { kind: 'project', scope } }, mark: {} });
  register({
    url: legacy,
    config: { access: { kind: 'legacy', scope }, successor: v1 },
    mark: { deprecated: true },
  });
}
