import type { Scope } from '../agents/accounts/apiKey.ts';
import type { Access } from './plugins/accessControl.ts';

/** A route that stands on two paths while the legacy one lasts. */
export interface BothPaths {
  readonly legacy: string;
  readonly v1: string;
  readonly scope: Scope;
}

/** What tells the two registrations of a route apart. */
export interface PathSettings {
  readonly url: string;
  readonly config: { readonly access: Access; readonly successor?: string };
  /** For the document. */
  readonly mark: { readonly deprecated?: true };
}

/** The rows of which one handler serves both paths; bodies and answers are the same. */
export const BOTH_PATHS = {
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
} as const satisfies Record<string, BothPaths>;

/** Registers a route at its /v1 path and at the legacy one, which tells its callers of the other. */
export function onBothPaths(paths: BothPaths, register: (settings: PathSettings) => void): void {
  const { legacy, v1, scope } = paths;
  register({ url: v1, config: { access: { kind: 'project', scope } }, mark: {} });
  register({
    url: legacy,
    config: { access: { kind: 'legacy', scope }, successor: v1 },
    mark: { deprecated: true },
  });
}
