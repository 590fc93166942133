import { Box } from '@mantine/core';
import { useReducedMotion } from '@mantine/hooks';
import { useReactFlow } from '@xyflow/react';
import { useEffect } from 'react';

import { PathwayView } from '../agent/canvas/PathwayCanvas.tsx';
import { type Graph, NODE_HEIGHT, NODE_WIDTH } from '../agent/pathway/graph.ts';
import styles from './PathCanvas.module.css';

const FOLLOW_ZOOM = 0.8;
const FOLLOW_MS = 300;

export interface PathCanvasProps {
  readonly graph: Graph;
  /** Where the conversation is; undefined before it begins. */
  readonly currentId: string | undefined;
}

/** The pathway with the current node lit, which stays in the middle. */
export function PathCanvas({ graph, currentId }: PathCanvasProps) {
  return (
    <Box className={styles.canvas ?? ''}>
      <PathwayView graph={graph} activeNodeId={currentId}>
        <Follow graph={graph} currentId={currentId} />
      </PathwayView>
    </Box>
  );
}

function Follow({ graph, currentId }: PathCanvasProps) {
  const { setCenter } = useReactFlow();
  const isStill = useReducedMotion();
  const position = graph.nodes.find(({ id }) => id === currentId)?.position;
  useEffect(() => {
    if (!position) return;
    const options = { zoom: FOLLOW_ZOOM, duration: isStill ? 0 : FOLLOW_MS };
    void setCenter(position.x + NODE_WIDTH / 2, position.y + NODE_HEIGHT / 2, options);
  }, [position, isStill, setCenter]);
  return null;
}
