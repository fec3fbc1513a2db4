import type { OptionKey } from './config.js'

/** Headings under which help lists options, in this order. */
export const GROUPS = [
  'Database',
  'Chain',
  'Execution',
  'Layer 2',
  'Network',
  'Access',
  'Threads and memory',
  'Limits of requests',
  'Checks',
  'Output',
] as const
export type Group = (typeof GROUPS)[number]

/** The heading of every option. */
export const GROUP_OF: { readonly [K in OptionKey]: Group } = {
  datadir: 'Database',
  genesis: 'Chain',
  network: 'Chain',
  kind: 'Chain',
  fixture: 'Chain',
  state: 'Execution',
  evm: 'Execution',
  stateCache: 'Execution',
  rootInterval: 'Execution',
  l2Verify: 'Layer 2',
  l2Network: 'Layer 2',
  host: 'Network',
  port: 'Network',
  cors: 'Network',
  allowedHosts: 'Network',
  compress: 'Network',
  compressAbove: 'Network',
  open: 'Access',
  rateLimit: 'Access',
  scanThreads: 'Threads and memory',
  evmThreads: 'Threads and memory',
  inlineCalls: 'Threads and memory',
  responseCache: 'Threads and memory',
  logsTimeout: 'Limits of requests',
  callTimeout: 'Limits of requests',
  queueTimeout: 'Limits of requests',
  maxLogs: 'Limits of requests',
  maxFilterParams: 'Limits of requests',
  gasCap: 'Limits of requests',
  index: 'Checks',
  segments: 'Checks',
  slowLogs: 'Output',
  logLevel: 'Output',
  json: 'Output',
}
