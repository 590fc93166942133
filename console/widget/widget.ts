import { CallwayWidget } from './widgetElement.ts';

// A page may load the script twice.
if (!customElements.get('callway-widget')) customElements.define('callway-widget', CallwayWidget);
