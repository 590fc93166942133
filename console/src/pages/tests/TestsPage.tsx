import { Stack, Tabs } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';

import { PageTitle } from '../../layout/PageTitle.tsx';
import { textsIn } from '../../texts.ts';
import { CaseList } from './cases/CaseList.tsx';
import { RunList } from './runs/RunList.tsx';
import { SuiteList } from './suites/SuiteList.tsx';
import { TESTS_TABS, type TestsTab } from './tabs.ts';
import { useRunEvents } from './useRunEvents.ts';

const texts = textsIn({
  en: { title: 'Tests', suites: 'Suites', cases: 'Cases', runs: 'Runs' },
  'zh-TW': { title: '測試', suites: '測試套件', cases: '測試案例', runs: '執行紀錄' },
});

/** Suites of test cases, the cases, and what their runs came to. */
export function TestsPage() {
  const { projectId } = useParams({ from: '/projects/$projectId/tests' });
  const { tab = 'suites' } = useSearch({ from: '/projects/$projectId/tests' });
  const navigate = useNavigate({ from: '/projects/$projectId/tests' });
  useRunEvents(projectId);
  return (
    <Stack maw={1100}>
      <PageTitle>{texts.title}</PageTitle>
      <Tabs
        value={tab}
        onChange={(chosen) => navigate({ search: { tab: chosen as TestsTab }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {TESTS_TABS.map((value) => (
            <Tabs.Tab key={value} value={value}>
              {texts[value]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="suites">
          <SuiteList projectId={projectId} />
        </Tabs.Panel>
        <Tabs.Panel value="cases">
          <CaseList projectId={projectId} />
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <RunList projectId={projectId} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}
