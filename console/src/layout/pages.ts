import type { Session } from '../session/session.ts';
import { textsIn } from '../texts.ts';

const texts = textsIn({
  en: {
    home: 'Start',
    agent: 'Agent',
    releases: 'Releases',
    talk: 'Talk',
    calls: 'Calls',
    sessions: 'Conversations',
    insights: 'Insights',
    reviews: 'Reviews',
    campaigns: 'Campaigns',
    knowledge: 'Knowledge',
    tests: 'Tests',
    trunks: 'Trunks and numbers',
    webhooks: 'Webhooks',
    settings: 'Settings',
  },
  'zh-TW': {
    home: '開始',
    agent: '代理',
    releases: '發布版本',
    talk: '對話',
    calls: '通話',
    sessions: '對話紀錄',
    insights: '洞察',
    reviews: '審查',
    campaigns: '外撥活動',
    knowledge: '知識庫',
    tests: '測試',
    trunks: '中繼線與號碼',
    webhooks: 'Webhook',
    settings: '設定',
  },
});

/** The pages of a project, in the order of the menu. */
export const projectMenu = [
  { to: '/projects/$projectId', label: texts.home, scope: undefined },
  { to: '/projects/$projectId/agent', label: texts.agent, scope: 'read' },
  { to: '/projects/$projectId/releases', label: texts.releases, scope: 'read' },
  { to: '/projects/$projectId/talk', label: texts.talk, scope: 'read' },
  { to: '/projects/$projectId/calls', label: texts.calls, scope: 'read' },
  { to: '/projects/$projectId/sessions', label: texts.sessions, scope: 'read' },
  { to: '/projects/$projectId/insights', label: texts.insights, scope: 'read' },
  { to: '/projects/$projectId/reviews', label: texts.reviews, scope: 'read' },
  { to: '/projects/$projectId/campaigns', label: texts.campaigns, scope: 'read' },
  { to: '/projects/$projectId/knowledge', label: texts.knowledge, scope: 'read' },
  { to: '/projects/$projectId/tests', label: texts.tests, scope: 'read' },
  { to: '/projects/$projectId/trunks', label: texts.trunks, scope: 'read' },
  { to: '/projects/$projectId/webhooks', label: texts.webhooks, scope: 'read' },
  { to: '/projects/$projectId/settings', label: texts.settings, scope: 'read' },
] as const satisfies readonly {
  to: string;
  label: string;
  /** Shown to sessions with it. */
  scope: NonNullable<Session['scopes']>[number] | undefined;
}[];
