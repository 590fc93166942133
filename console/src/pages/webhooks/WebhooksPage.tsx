import { Stack } from '@mantine/core';
import { useParams } from '@tanstack/react-router';

import { PageTitle } from '../../layout/PageTitle.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { DeliveryList } from './DeliveryList.tsx';
import { SigningSecret } from './SigningSecret.tsx';
import { WebhookTargets } from './WebhookTargets.tsx';

const texts = textsIn({ en: { title: 'Webhooks' }, 'zh-TW': { title: 'Webhook' } });

/** Where events go, what became of each, and the secret that signs them. */
export function WebhooksPage() {
  const { projectId } = useParams({ from: '/projects/$projectId/webhooks' });
  const mayManage = useScope('keys:write');
  return (
    <Stack maw={1100} gap="lg">
      <PageTitle>{texts.title}</PageTitle>
      <WebhookTargets projectId={projectId} />
      {mayManage && <SigningSecret projectId={projectId} />}
      <DeliveryList projectId={projectId} />
    </Stack>
  );
}
