import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';

import { ErrorPage } from './layout/ErrorPage.tsx';
import { Layout } from './layout/Layout.tsx';
import { NotFoundPage } from './layout/NotFoundPage.tsx';
import { ProjectLayout } from './layout/ProjectLayout.tsx';
import { readFilters } from './pages/calls/filters.ts';
import { readInsightSearch } from './pages/insights/insightSearch.ts';
import { readSessionSearch } from './pages/sessions/sessionSearch.ts';
import { TESTS_TABS, type TestsTab } from './pages/tests/tabs.ts';
import { SignedIn } from './session/SignedIn.tsx';
import { useSession } from './session/session.ts';

const root = createRootRoute({
  component: () => (
    <SignedIn>
      <Layout>
        <Outlet />
      </Layout>
    </SignedIn>
  ),
  notFoundComponent: NotFoundPage,
});

const start = createRoute({ getParentRoute: () => root, path: '/', component: StartPage });

const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  component: lazyRouteComponent(() => import('./pages/projects/ProjectsPage.tsx'), 'ProjectsPage'),
});

const health = createRoute({
  getParentRoute: () => root,
  path: '/health',
  component: lazyRouteComponent(() => import('./pages/health/HealthPage.tsx'), 'HealthPage'),
});

const doNotCall = createRoute({
  getParentRoute: () => root,
  path: '/do-not-call',
  component: lazyRouteComponent(() => import('./pages/campaigns/DoNotCallPage.tsx'), 'DoNotCallPage'),
});

/** The parent of all pages of a project. */
export const projectRoute = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId',
  component: ProjectLayout,
});

/** A page of a project is a line here, and one in `layout/pages.ts` for the menu. */
const projectPages = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/home/HomePage.tsx'), 'HomePage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/agent',
    component: lazyRouteComponent(() => import('./pages/agent/AgentPage.tsx'), 'AgentPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/releases',
    validateSearch: ({ release, compared }): { release?: number; compared?: number } => ({
      release: releaseNumber(release),
      compared: releaseNumber(compared),
    }),
    component: lazyRouteComponent(() => import('./pages/releases/ReleasesPage.tsx'), 'ReleasesPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/knowledge',
    component: lazyRouteComponent(() => import('./pages/knowledge/KnowledgePage.tsx'), 'KnowledgePage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/knowledge/$datasetId',
    component: lazyRouteComponent(() => import('./pages/knowledge/DocumentPage.tsx'), 'DocumentPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/tests',
    validateSearch: ({ tab }: { tab?: unknown }): { tab?: TestsTab } => {
      const known = TESTS_TABS.find((one) => one === tab);
      return known ? { tab: known } : {};
    },
    component: lazyRouteComponent(() => import('./pages/tests/TestsPage.tsx'), 'TestsPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/tests/suites/$testSuiteId',
    component: lazyRouteComponent(() => import('./pages/tests/suites/SuitePage.tsx'), 'SuitePage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/tests/cases/$testCaseId',
    validateSearch: ({ suite }: { suite?: unknown }): { suite?: string } =>
      typeof suite === 'string' ? { suite } : {},
    component: lazyRouteComponent(() => import('./pages/tests/cases/CasePage.tsx'), 'CasePage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/tests/compare',
    validateSearch: ({ runs }: { runs?: unknown }): { runs: string } => ({
      runs: typeof runs === 'string' ? runs : '',
    }),
    component: lazyRouteComponent(() => import('./pages/tests/runs/ComparePage.tsx'), 'ComparePage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/tests/runs/$testRunId',
    component: lazyRouteComponent(() => import('./pages/tests/runs/RunPage.tsx'), 'RunPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('./pages/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/trunks',
    component: lazyRouteComponent(() => import('./pages/trunks/TrunksPage.tsx'), 'TrunksPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/settings',
    component: lazyRouteComponent(() => import('./pages/settings/SettingsPage.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/talk',
    component: lazyRouteComponent(() => import('./pages/talk/TalkPage.tsx'), 'TalkPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/calls',
    validateSearch: readFilters,
    component: lazyRouteComponent(() => import('./pages/calls/CallsPage.tsx'), 'CallsPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/sessions',
    validateSearch: readSessionSearch,
    component: lazyRouteComponent(() => import('./pages/sessions/SessionsPage.tsx'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/insights',
    validateSearch: readInsightSearch,
    component: lazyRouteComponent(() => import('./pages/insights/InsightsPage.tsx'), 'InsightsPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/reviews',
    component: lazyRouteComponent(() => import('./pages/reviews/ReviewsPage.tsx'), 'ReviewsPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/campaigns',
    component: lazyRouteComponent(() => import('./pages/campaigns/CampaignsPage.tsx'), 'CampaignsPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/campaigns/$campaignId',
    component: lazyRouteComponent(() => import('./pages/campaigns/CampaignPage.tsx'), 'CampaignPage'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/calls/$callId',
    // Seconds on its time line.
    validateSearch: ({ t }): { t?: number } => (Number(t) > 0 ? { t: Number(t) } : {}),
    component: lazyRouteComponent(() => import('./pages/call/CallPage.tsx'), 'CallPage'),
  }),
];

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([start, projects, doNotCall, health, projectRoute.addChildren(projectPages)]),
    basepath: '/console',
    defaultPreload: 'intent',
    defaultErrorComponent: ErrorPage,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}

const releaseNumber = (value: unknown) =>
  Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined;

/** A key opens its project; the operator chooses one. */
function StartPage() {
  const { projectId } = useSession();
  return projectId === undefined ? (
    <Navigate to="/projects" />
  ) : (
    <Navigate to="/projects/$projectId" params={{ projectId }} />
  );
}
