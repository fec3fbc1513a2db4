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

/* The block of `bench:replica`: 99 transactions, 251 logs, 400 changed accounts, 1,000 changed slots. That of
 * `bench:sync` has 151 transactions and 250 logs. */

const MACHINE = '2 cores (Intel Xeon), nothing else running'
const STREAM = `npm run bench:replica -- --phase stream --blocks 400; ${MACHINE}`
const READS = `npm run bench:replica -- --phase reads --seconds 8, mix of 3 replicas; ${MACHINE}`

/** As measured on 2 cores (Intel Xeon) in one hour. Times are of the wall where blocks wait for them. */
export const COSTS: Costs = {
  followMs: {
    what: 'receive, execute and store a block',
    value: 52.6,
    unit: 'ms',
    source: `npm run bench:sync -- --blocks 60 --phase rates: 19.0 blocks/s, serve --upstream over WebSocket; ${MACHINE}`,
  },
  encodeMs: { what: 'read and encode a block', value: 18.1, unit: 'ms', source: STREAM },
  messageBytes: { what: 'message of a block', value: 157_293, unit: 'bytes', source: STREAM },
  publishPerSecond: { what: 'publish, 3 copies, one by one', value: 217, unit: 'messages/s', source: STREAM },
  consumePerSecond: { what: 'consume', value: 1_273, unit: 'messages/s', source: STREAM },
  applyMs: { what: 'verify and apply a block', value: 12.9, unit: 'ms', source: `${STREAM}: 77.4 blocks/s` },
  databaseBytesPerBlock: { what: 'a block in the database', value: 291_656, unit: 'bytes', source: STREAM },
  writtenBytesPerBlock: {
    what: 'written to disk for a block that is applied alone',
    value: 6_977_825,
    unit: 'bytes',
    source: `npm run bench:replica -- --phase tip --accounts 100000 --slots 50000 --blocks 100 --tip 600; ${MACHINE}`,
  },
  diskMbPerSecond: { what: 'the disk, written and synced', value: 391, unit: 'MB/s', source: STREAM },
  readMs: { what: 'an answer of a replica, mixed', value: 0.245, unit: 'ms', source: READS },
  balancerMs: { what: 'an answer through HAProxy', value: 0.073, unit: 'ms', source: READS },
}

/** The costs with other values, and `source` as their source. @throws Error for a name that is none, or no number above
 *  0 */
export function replaceCosts(values: { readonly [name: string]: unknown }, source: string): Costs {
  const replaced: { [name: string]: Cost } = { ...COSTS }
  for (const [name, value] of Object.entries(values)) {
    if (!(name in COSTS)) throw new Error(`${source}: expected one of ${Object.keys(COSTS).join(', ')}, got ${name}`)
    if (typeof value !== 'number' || !(value > 0)) throw new Error(`${source}: ${name}: expected a number above 0`)
    replaced[name] = { ...replaced[name], value, source }
  }
  return replaced as Costs
}
