import { DecodeError } from '../../chain/eth/rlp.js'
import { formatData } from '../../lib/hex.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import type { Pool } from '../upstreams/pool.js'
import { askForHints } from './askForHints.js'
import { readFields, readSlot } from './fields.js'
import type { StateBlock } from './stateTypes.js'

// A call that accesses more is better served without a hint.
const MAX_CALL_ACCESSES = 4096
// EIP-7928: an access for each 2,000 gas of the block's limit; this is the most below a limit of 500 million.
const MAX_BLOCK_ACCESSES = 250_000

type HintBlock = Pick<StateBlock, 'number' | 'hash'>

/** Implements `UpstreamState.accessListHint`. */
export async function fetchAccessListHint(
  pool: Pool,
  call: object,
  block: HintBlock,
  signal: AbortSignal | undefined,
): Promise<StateKeys[] | undefined> {
  const params = [call, { blockHash: formatData(block.hash) }]
  const [result] = await askForHints(pool, { method: 'eth_createAccessList', params: [params] }, signal)
  return result === undefined ? undefined : readHint(() => readCallAccesses(result))
}

/** Implements `UpstreamState.blockAccessList`. */
export async function fetchBlockAccessList(
  pool: Pool,
  block: HintBlock,
  signal: AbortSignal | undefined,
): Promise<StateKeys[] | undefined> {
  const params = [formatData(block.hash)]
  const [result] = await askForHints(pool, { method: 'eth_getBlockAccessList', params: [params] }, signal)
  return result === undefined || result === null ? undefined : readHint(() => readBlockAccesses(result))
}

/** Reads a hint; undefined for one that cannot be read, since it is not needed. */
function readHint(read: () => StateKeys[]): StateKeys[] | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

function readCallAccesses(result: unknown): StateKeys[] {
  const entries = readFields(result, 'access list').array('accessList')
  return takeAccesses(entries, MAX_CALL_ACCESSES, (entry) => {
    const fields = readFields(entry, 'access list')
    return { address: fields.fixed('address', 20), slots: fields.hashes('storageKeys') }
  })
}

function readBlockAccesses(result: unknown): StateKeys[] {
  const entries = readFields({ list: result }, 'block access list').array('list')
  return takeAccesses(entries, MAX_BLOCK_ACCESSES, (entry) => {
    const fields = readFields(entry, 'block access list')
    const changed = (fields.optional('storageChanges', fields.array) ?? []).map((change) => {
      const { key, slot } = change as { key?: unknown; slot?: unknown } // geth writes `slot`
      return key ?? slot
    })
    const read = fields.optional('storageReads', fields.array) ?? []
    return { address: fields.fixed('address', 20), slots: [...changed, ...read].map(readSlot) }
  })
}

/** Reads entries until `max` addresses and slots; cuts the slots of the last one. */
function takeAccesses(entries: readonly unknown[], max: number, read: (entry: unknown) => StateKeys): StateKeys[] {
  const taken: StateKeys[] = []
  let left = max
  for (const entry of entries) {
    if (left <= 0) break
    const { address, slots } = read(entry)
    taken.push({ address, slots: slots.slice(0, left - 1) })
    left -= 1 + Math.min(slots.length, left - 1)
  }
  return taken
}
