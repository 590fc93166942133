import { Stack, Tabs } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';

import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { AuditLog } from './AuditLog.tsx';
import { CallingHours } from './CallingHours.tsx';
import { KeySection } from './KeySection.tsx';
import { ProviderSection } from './ProviderSection.tsx';
import { UsageSection } from './UsageSection.tsx';

// Its form is as large as the rest of the page.
const RateSection = lazyRouteComponent(() => import('./RateSection.tsx'), 'RateSection');

const texts = textsIn({
  en: {
    title: 'Settings',
    usage: 'Usage and limits',
    hours: 'Calling hours',
    rates: 'Rates',
    keys: 'Keys',
    providers: 'Providers',
    audit: 'Audit log',
  },
  'zh-TW': {
    title: '設定',
    usage: '用量與限制',
    hours: '可撥時段',
    rates: '費率',
    keys: '金鑰',
    providers: '供應商',
    audit: '稽核紀錄',
  },
});

/** Limits, calling hours, keys, providers, and what was changed. */
export function SettingsPage() {
  const mayManage = useScope('keys:write');
  return (
    <Stack>
      <PageTitle>{texts.title}</PageTitle>
      <Tabs defaultValue="usage" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="usage">{texts.usage}</Tabs.Tab>
          <Tabs.Tab value="hours">{texts.hours}</Tabs.Tab>
          <Tabs.Tab value="rates">{texts.rates}</Tabs.Tab>
          {mayManage && <Tabs.Tab value="keys">{texts.keys}</Tabs.Tab>}
          {mayManage && <Tabs.Tab value="providers">{texts.providers}</Tabs.Tab>}
          <Tabs.Tab value="audit">{texts.audit}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="usage">
          <UsageSection />
        </Tabs.Panel>
        <Tabs.Panel value="hours">
          <CallingHours />
        </Tabs.Panel>
        <Tabs.Panel value="rates">
          <Suspense>
            <RateSection />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="keys">
          <KeySection />
        </Tabs.Panel>
        <Tabs.Panel value="providers">
          <ProviderSection />
        </Tabs.Panel>
        <Tabs.Panel value="audit">
          <AuditLog />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}
