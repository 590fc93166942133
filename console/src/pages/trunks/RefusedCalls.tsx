import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { codeText } from '../../codes/codeText.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { FormError } from '../../components/FormError.tsx';
import { Section } from '../../components/Section.tsx';
import { useProjectId } from '../../components/useProjectId.ts';
import { formatDateTime } from '../../formats.ts';
import { textsIn } from '../../texts.ts';

const REFRESH_MS = 10_000;
const MAX_SHOWN = '20';

const texts = textsIn({
  en: {
    title: 'Refused inbound calls',
    about: 'Calls that did not reach the agent, the newest first, and what to do.',
    none: 'No call was refused.',
    time: 'Time',
    source: 'Source',
    from: 'From',
    to: 'To',
    why: 'Why',
    advice: {
      unknown_source: 'Add the address to the inbound networks of a trunk, or correct the trunk’s host.',
      auth_failed:
        'The peer logs in with a password. Callway knows peers by address: add it to a trunk’s networks.',
      unknown_number: 'Add the number below, with this trunk, or correct the number that the peer sends.',
      number_inactive:
        'Switch on “Answers calls” for the number. A number that waits is verified by the operator.',
      bad_request:
        'The peer’s INVITE is malformed or requires an extension. Its log, or a capture, shows the message.',
      media_not_acceptable: 'Let the peer offer one of the trunk’s codecs, with SRTP as the trunk wants it.',
      overloaded:
        'A limit is reached, or a service is away: the trunk’s channels, the project’s calls, the node.',
      declined_by_agent: 'The agent’s beforeStartConfig declined the call.',
    },
  },
  'zh-TW': {
    title: '遭拒的來電',
    about: '未到達代理的來電（最新的在前），以及處理方式。',
    none: '沒有來電遭拒。',
    time: '時間',
    source: '來源',
    from: '來電號碼',
    to: '撥打號碼',
    why: '原因',
    advice: {
      unknown_source: '請將此位址加入中繼線的來源網段，或更正中繼線的主機。',
      auth_failed: '對方以密碼登入。Callway 以位址辨識對方：請將位址加入中繼線的來源網段。',
      unknown_number: '請在下方新增此號碼並指定這條中繼線，或更正對方送出的號碼。',
      number_inactive: '請為此號碼開啟「接聽來電」。等待中的號碼須由管理者確認。',
      bad_request: '對方的 INVITE 格式錯誤或要求不支援的擴充，請查看對方的記錄或擷取封包。',
      media_not_acceptable: '請讓對方提供中繼線的編碼之一，並依中繼線的設定使用 SRTP。',
      overloaded: '已達上限或有服務中斷：中繼線的通道、專案的通話數或節點。',
      declined_by_agent: '代理的 beforeStartConfig 拒絕了這通來電。',
    },
  },
});

/** Why calls did not reach the agent: the first hour of a new trunk. */
export function RefusedCalls() {
  const api = useApi();
  const projectId = useProjectId();
  const { data, error } = useQuery({
    queryKey: ['sipRejections', projectId],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/sip-rejections', {
          params: { path: { projectId }, query: { limit: MAX_SHOWN } },
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Section title={texts.title} description={texts.about}>
      <FormError error={data ? null : error} />
      {data?.data.length === 0 && <Text>{texts.none}</Text>}
      {data !== undefined && data.data.length > 0 && (
        <DataTable headings={[texts.time, texts.source, texts.from, texts.to, texts.why]} minWidth={640}>
          {data.data.map(({ at, source, from, to, reason, status, callId }) => (
            <Table.Tr key={`${at} ${callId}`}>
              <Table.Td>{formatDateTime(at)}</Table.Td>
              <Table.Td>{source}</Table.Td>
              <Table.Td>{from}</Table.Td>
              <Table.Td>{to}</Table.Td>
              <Table.Td>
                {codeText('rejection', reason)} ({status})
                <Text size="sm" c="dimmed">
                  {texts.advice[reason]}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Section>
  );
}
