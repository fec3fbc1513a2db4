import { keccak256 } from '../../../src/chain/crypto.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import type { Choices, Request } from './random.js'

/** Slots that contracts of the chain write: small numbers, as 32 bytes. */
const SLOTS = Array.from({ length: 8 }, (_, slot) => `0x${slot.toString(16).padStart(64, '0')}`)

/** Dumps, ranges, modified accounts and roots of the state of every block, and what was hashed. */
export function stateRanges(choices: Choices): Request[] {
  const { facts, pick, blockNumber } = choices
  const requests: Request[] = []
  const ask = (method: string, ...params: unknown[]) => void requests.push({ method, params })
  for (let number = 0; number <= facts.head; number++) {
    const [at, hash] = [formatQuantity(number), facts.blockHashes[number]]
    ask('debug_dumpBlock', at)
    ask('debug_accountRange', pick([at, hash]), ...rangeParams(choices))
    ask('debug_intermediateRoots', hash)
    ask('debug_getModifiedAccountsByNumber', number)
    ask('debug_getModifiedAccountsByNumber', number, blockNumber())
    ask('debug_getModifiedAccountsByHash', hash, pick(facts.blockHashes))
    for (let i = 0; i < 4; i++) ask('debug_storageRangeAt', pick([at, hash]), ...storageParams(choices))
  }
  for (const preimage of [...facts.addresses, ...SLOTS])
    ask('debug_preimage', formatData(keccak256(parseHex(preimage))))
  return requests
}

function rangeParams({ random, oneIn, pick, data }: Choices): unknown[] {
  const start = pick(['0x', '0x80', data(32), `0x00${data(31).slice(2)}`])
  return [start, pick([0, 1, 2, 5, 300, -1]), oneIn(2), oneIn(2), random.below(2) === 0]
}

/** At index 0: geth has the state before the block at every index. */
function storageParams({ facts, pick, oneIn, data, address }: Choices): unknown[] {
  const contract = oneIn(5) ? address() : pick(Object.values(facts.contracts))
  return [0, contract, pick(['0x', '0x', '0x80', data(32)]), pick([0, 1, 2, 100, 100, 20_000])]
}
