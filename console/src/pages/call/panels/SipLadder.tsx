import { Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { textsIn } from '../../../texts.ts';
import type { Axis } from '../model/callTimeline.ts';
import { peersOf, type SipStep, sipSteps } from '../model/sip.ts';
import classes from './panels.module.css';

/** While the call goes on. */
const REFRESH_MS = 3_000;

const texts = textsIn({
  en: { none: 'No SIP message is kept of this call.', us: 'Callway', sdp: 'SDP' },
  'zh-TW': { none: '此通話沒有保留 SIP 訊息。', us: 'Callway', sdp: 'SDP' },
});

/** The SIP messages of all legs, between us and each address. */
export function SipLadder({
  projectId,
  callId,
  axis,
  isLive,
}: {
  projectId: string;
  callId: string;
  axis: Axis;
  isLive: boolean;
}) {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['call', projectId, callId, 'sip'],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/calls/{callId}/sip-trace', {
          params: { path: { projectId, callId } },
        }),
      ),
    refetchInterval: isLive ? REFRESH_MS : false,
  });
  const steps = useMemo(() => sipSteps(data?.messages ?? []), [data]);
  const peers = useMemo(() => peersOf(steps), [steps]);
  if (error && !data) return <ErrorPage error={error} />;
  if (data && steps.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  const columns = peers.length + 1;
  const place = (column: number) => (100 * (column + 0.5)) / columns;
  const lifelines = Array.from({ length: columns }, (_, column) => {
    const at = `${place(column)}%`;
    return `linear-gradient(var(--mantine-color-default-border) 0 0) ${at} 0 / 1px 100% no-repeat`;
  }).join(', ');
  return (
    <section className={classes.ladder} aria-label="SIP" style={{ '--lifelines': lifelines } as object}>
      <div className={classes.step}>
        <span />
        <div className={classes.wire}>
          {[texts.us, ...peers].map((name, column) => (
            <Text
              key={name}
              size="xs"
              fw={600}
              ta="center"
              truncate
              pos="absolute"
              w={`${100 / columns}%`}
              bg="var(--mantine-color-body)"
              style={{ left: `${(100 * column) / columns}%` }}
            >
              {name}
            </Text>
          ))}
        </div>
      </div>
      {steps.map((step, index) => (
        <Step
          // biome-ignore lint/suspicious/noArrayIndexKey: messages are only added
          key={index}
          step={step}
          atMs={Date.parse(step.at) - axis.fromMs}
          ownPlace={place(0)}
          peerPlace={place(peers.indexOf(step.remote) + 1)}
        />
      ))}
    </section>
  );
}

function Step({
  step,
  atMs,
  ownPlace,
  peerPlace,
}: {
  step: SipStep;
  atMs: number;
  ownPlace: number;
  peerPlace: number;
}) {
  const [isOpen, setOpen] = useState(false);
  const { title, method, isResponse, isFailure, hasSdp, direction, transport, text } = step;
  const color = isFailure ? 'var(--mantine-color-error)' : undefined;
  const label = `${title}${isResponse ? ` (${method})` : ''}${hasSdp ? ` · ${texts.sdp}` : ''}`;
  return (
    <>
      <UnstyledButton
        className={classes.step}
        onClick={() => setOpen(!isOpen)}
        aria-expanded={isOpen}
        style={{ color }}
        title={transport.toUpperCase()}
      >
        <span className={classes.time}>{(atMs / 1000).toFixed(3)}</span>
        <span className={classes.wire}>
          <span
            className={classes.arrow}
            data-towards={direction === 'out' ? 'right' : 'left'}
            style={{ left: `${ownPlace}%`, width: `${peerPlace - ownPlace}%` }}
          />
          <span
            className={classes.label}
            style={{ left: `${ownPlace}%`, right: `${100 - peerPlace}%`, fontWeight: isResponse ? 400 : 600 }}
          >
            {label}
          </span>
        </span>
      </UnstyledButton>
      {isOpen && <pre className={classes.text}>{text}</pre>}
    </>
  );
}
