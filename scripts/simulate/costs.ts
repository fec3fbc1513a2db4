/** What something takes, as measured. */
export interface Cost {
  readonly what: string
  readonly value: number
  readonly unit: string
  /** The command that measured it, and where. */
  readonly source: string
}

/** The costs of a simulation: of a block, and of an answer, on one core. */
export type Costs = { readonly [name in CostName]: Cost }

type CostName =
  | ('followMs' | 'encodeMs' | 'messageBytes' | 'publishPerSecond' | 'consumePerSecond' | 'applyMs')
  | ('databaseBytesPerBlock' | 'writtenBytesPerBlock' | 'diskMbPerSecond' | 'readMs' | 'balancerMs')

/* The block of `bench:replica` and `bench:stream`: 99 transactions, 251 logs, 400 changed accounts, 1,000 changed slots. That of `bench:sync`
 * has 151 transactions and 250 logs. */

const STREAM = 'npm run bench:stream'

/** As measured on 2 cores (AMD EPYC). */
export const COSTS: Costs = {
  followMs: {
    what: 'receive, execute and store a block',
    value: 37.6,
    unit: 'ms',
    source: 'npm run bench:sync -- --blocks 300 --reorgs 10: 26.6 blocks/s, serve --upstream over WebSocket',
  },
  encodeMs: { what: 'read and encode a block', value: 10, unit: 'ms', source: STREAM },
  messageBytes: { what: 'message of a block', value: 132_000, unit: 'bytes', source: STREAM },
  publishPerSecond: { what: 'publish, 3 copies, 16 in flight', value: 404, unit: 'messages/s', source: STREAM },
  consumePerSecond: { what: 'consume', value: 913, unit: 'messages/s', source: STREAM },
  applyMs: { what: 'verify and apply a block', value: 13.9, unit: 'ms', source: 'npm run bench:replica' },
  databaseBytesPerBlock: { what: 'a block in the database', value: 191_000, unit: 'bytes', source: STREAM },
  writtenBytesPerBlock: { what: 'written to disk for a block', value: 400_000, unit: 'bytes', source: STREAM },
  diskMbPerSecond: { what: 'the disk, written and synced', value: 400, unit: 'MB/s', source: STREAM },
  readMs: { what: 'an answer of a replica, mixed', value: 0.5, unit: 'ms', source: 'npm run bench:replicas' },
  balancerMs: { what: 'an answer through HAProxy', value: 0.1, unit: 'ms', source: 'npm run bench:replicas' },
}
