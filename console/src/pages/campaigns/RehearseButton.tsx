import { Button, Modal, NumberInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { textsIn } from '../../texts.ts';
import type { Campaign } from './campaignData.ts';

const DEFAULT_CONTACTS = 6;
const MAX_CONTACTS = 100;

const texts = textsIn({
  en: {
    rehearse: 'Rehearse',
    title: (name: string) => `Rehearse “${name}”`,
    explained:
      'Simulated people take the calls of the first contacts: persons, a machine, a busy line, a person who wants no more calls. No one is called.',
    contacts: 'Contacts',
    start: 'Start the rehearsal',
  },
  'zh-TW': {
    rehearse: '演練',
    title: (name: string) => `演練「${name}」`,
    explained: '由模擬的人接聽前幾位聯絡人的電話：一般人、答錄機、忙線、要求不再來電的人。不會撥打給任何人。',
    contacts: '聯絡人數',
    start: '開始演練',
  },
});

/** Plays some contacts of a campaign with simulated people, and shows the run. */
export function RehearseButton({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const api = useApi();
  const navigate = useNavigate();
  const [isOpen, dialog] = useDisclosure();
  const [contacts, setContacts] = useState(DEFAULT_CONTACTS);
  const rehearse = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/campaigns/{campaignId}/rehearse', {
          params: { path: { projectId, campaignId: campaign.id } },
          body: { contacts },
        }),
      ),
    onSuccess: ({ data: { id: testRunId } }) =>
      navigate({ to: '/projects/$projectId/tests/runs/$testRunId', params: { projectId, testRunId } }),
  });
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        {texts.rehearse}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={texts.title(campaign.name)} centered>
        <Stack>
          <Text size="sm">{texts.explained}</Text>
          <NumberInput
            label={texts.contacts}
            min={1}
            max={MAX_CONTACTS}
            allowDecimal={false}
            value={contacts}
            onChange={(value) => setContacts(Number(value) || 1)}
          />
          <FormError error={rehearse.error} />
          <Button onClick={() => rehearse.mutate()} loading={rehearse.isPending}>
            {texts.start}
          </Button>
        </Stack>
      </Modal>
    </>
  );
}
