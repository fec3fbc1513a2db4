import { measureTables } from '../../src/store/databaseFacts.js'
import { openForReading } from '../../src/store/open.js'
import { type PartSize, sumParts } from '../../src/store/partSizes.js'
import type { CostName, Costs } from './costs.js'
import { between } from './range.js'

/** Bytes from which a part says how large its rows are: a page that is partly used is one of sixty. */
const LEAST_BYTES = 250_000

/** Costs that are the bytes of an item of a part. */
const PARTS: { readonly [part: string]: CostName } = {
  blocks: 'blockBytes',
  'transactions and receipts': 'transactionBytes',
  'transaction index': 'transactionIndexBytes',
  'address index': 'addressIndexBytes',
  logs: 'logBytes',
  'log index': 'logIndexBytes',
  'account history': 'accountChangeBytes',
  'storage history': 'slotChangeBytes',
  addresses: 'addressBytes',
}
const CHANGED_KEYS = 'changed accounts and slots by block'

/** Returns the sizes of the parts of a database, as `cairn status --sizes --json` has them. Reads all of it.
 *  @throws Error when the directory has no database of this schema */
export function readPartSizes(datadir: string): PartSize[] {
  const db = openForReading(datadir)
  try {
    return sumParts(db, measureTables(db))
  } finally {
    db.close()
  }
}

/** Returns the costs with the bytes of an item of those parts of a database that have at least 250 kB, and `source` as
 *  their source. The trie is left as it was: its bytes are counted by accounts alone. */
export function replaceBytes(costs: Costs, sizes: readonly PartSize[], source: string): Costs {
  const large = sizes.filter(({ bytes, items }) => bytes >= LEAST_BYTES && items > 0)
  const items = (part: string) => sizes.find((size) => size.part === part)?.items ?? 0
  const changes = items('account history') + items('storage history')
  const replaced = large.flatMap(({ part, bytes, items: count }): [CostName, number][] => {
    if (part === CHANGED_KEYS) return changes === 0 ? [] : [['changedKeyBytes', bytes / changes]]
    return part in PARTS ? [[PARTS[part], bytes / count]] : []
  })
  const entries = replaced.map(([name, value]) => [name, { ...costs[name], ...between(value), source }])
  return { ...costs, ...(Object.fromEntries(entries) as Partial<Costs>) }
}
